"""Find and remove what is provably onceproof's, and report why anything else stays."""
