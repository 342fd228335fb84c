"""A run without faults that learns what a pipeline speaks."""
