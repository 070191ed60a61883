"""What a step is made from, how its parts are worked off, and what closing it leaves behind."""
