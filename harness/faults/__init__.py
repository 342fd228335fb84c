"""Faults, one per file. To add one, add a file."""
