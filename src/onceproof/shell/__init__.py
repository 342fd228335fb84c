"""`onceproof shell`: questions in SQL to what a run has recorded.

Nothing of a run is ever changed here; whatever is made lives in memory.
"""
