"""The pipelines under test, one file each, and their jobs."""
