"""What goes wrong with the processes, links and brokers of a run."""


class StageTrouble(RuntimeError):
    """The stage could not do what was asked; the text says what was seen."""
