"""The HTTP service of a stage: it records the requests that it carries out; faults act in it."""
