"""The one type of error that says that a history cannot be judged as it is."""


class BadHistory(ValueError):
    """A history that cannot be judged as it is; the text says where, what, and what to do."""
