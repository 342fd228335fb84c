"""Java that knows no broker: the history, the pace and the records of whatever client sends."""
