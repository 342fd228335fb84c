"""Two runs beside each other: what is new, what is gone, what is still there, and what differs.

A finding is *gone* only when the other run could have seen it (`sight`). In
a run that broke off, or in which nothing put the claim to the test, nobody looked.
"""
