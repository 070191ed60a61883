"""Reading what people really have: bytes of a file -> text, lines, and what was not understood.

Pure functions. `sources.read_source` reads what a document is checked against (transcripts,
notes, data), `drafts.read_draft` a text to be made right. Both raise `parsed.Unreadable`.
"""
