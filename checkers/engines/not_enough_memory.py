"""The error that says that judging needs more memory than it was given."""


class NotEnoughMemory(RuntimeError):
    """A history cannot be judged within the memory that is allowed; the text says what to do."""
