"""The report of an audit: what a cluster held, and which records are to be repaired."""
