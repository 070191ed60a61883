"""Every sentence that a person reads, by code and in the reader's language."""
