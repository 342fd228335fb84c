"""The error raised for a history that cannot be judged."""


class BadHistory(ValueError):
    """A history that cannot be judged; the message says where, what, and what to do."""
