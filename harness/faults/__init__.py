"""Faults: one file each. To add one, add a file."""
