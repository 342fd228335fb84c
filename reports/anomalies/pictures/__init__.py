"""From the rows of a minimal history to a scene: one file for each kind of party.

Every row ends up somewhere. What no file here knows how to draw is listed in
words by `leftovers`.
"""
