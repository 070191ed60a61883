"""What ends a stack command: a refusal that names the next act, or a part that failed."""

from __future__ import annotations


class Refused(Exception):
    """The command cannot be done as asked; the text says why and what to do. Exit code 3."""


class UsageError(Exception):
    """Arguments or variables that cannot be used. Exit code 2."""


class PartFailed(Exception):
    """A part of the stack cannot be started or kept up; the text ends with its last log lines."""
