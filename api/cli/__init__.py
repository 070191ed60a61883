"""Client commands: what a person types, as requests to the API and rows on a terminal."""
