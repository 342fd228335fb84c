"""The error of the stage's processes, links and brokers."""


class StageTrouble(RuntimeError):
    """The stage could not do what was requested; the text says what was observed."""
