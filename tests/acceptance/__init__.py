"""The program as a user runs it: all real but the model."""
