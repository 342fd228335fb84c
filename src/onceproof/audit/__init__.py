"""`onceproof audit`: examine a real cluster, read-only."""
