"""A measured test of the tester: pipelines with one known fault each, and their mended twins.

A folder below `pairs` is one pair: `broken.*` and `mended.*` are whole programs, as strangers write
them, and `pair.toml` says how they are started and what is right. `make power` puts each on trial
by `onceproof verify`, in a process of its own, and prints who was caught by what.
"""
