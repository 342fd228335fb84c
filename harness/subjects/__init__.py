"""The systems on trial: one file each, and their jobs."""
