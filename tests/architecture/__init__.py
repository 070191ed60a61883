"""Rules of the code base that a machine can hold, as checks and as tests."""
