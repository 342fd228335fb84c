"""Kinds of outputs, one file each; `kinds.py` collects them."""
