"""Finding what onceproof left behind, and removing it.

The one thing to know: whatever cannot be proven to be ours stays, with the reason why.
"""
