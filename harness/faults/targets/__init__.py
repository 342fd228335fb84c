"""Targets of `kill`, `stop` and `pause`, one kind per file, and their helpers."""
