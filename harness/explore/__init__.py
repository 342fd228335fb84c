"""Try every fault at every message and crash point of a pipeline: `onceproof explore`."""
