"""The report of an audit: what a cluster contained, and which records need repair."""
