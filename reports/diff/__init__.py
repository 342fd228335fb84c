"""Compare two runs: which findings are new, gone or still there, and what else differs.

A finding is *gone* only if the other run could have seen it (`observable`), which an incomplete run
or one without the required hazards could not.
"""
