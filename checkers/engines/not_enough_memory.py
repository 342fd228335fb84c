"""The error raised if judging needs more memory than is allowed."""


class NotEnoughMemory(RuntimeError):
    """The memory limit is too low to judge a history; the message says what to do."""
