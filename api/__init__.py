"""Takes requests and shows rows: JSON, pages, command line."""
