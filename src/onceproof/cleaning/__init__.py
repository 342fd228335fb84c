"""Finding what onceproof left behind, and removing it.

Whatever cannot be proven to be ours stays, with the reason why.
"""
