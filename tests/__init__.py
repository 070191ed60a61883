"""Proof: tiers by what they need, from pure functions to browsers and killed processes."""
