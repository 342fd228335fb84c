"""Faults of your program: its group, its transactions, its input."""
