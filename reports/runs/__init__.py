"""Pages of many runs: an index of those that are there, and a matrix of those that were asked for.

Both have one frame, one style, and one way of telling claims that came out alike.
"""
