"""Wires workflows and activities together and runs them in a process."""
