"""The HTTP service of a stage, which records the requests that it executes and injects faults."""
