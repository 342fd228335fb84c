"""`onceproof shell`: questions in SQL to what a run has recorded.

The one thing to know: nothing of a run is ever changed here; whatever is made lives in memory.
"""
