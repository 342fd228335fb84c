"""Faults of transactions and their producers."""
