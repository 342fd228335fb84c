"""Spark's subjects, one file each, and their jobs."""
