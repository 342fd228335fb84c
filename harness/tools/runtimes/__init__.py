"""Runtimes: other versions of what is on trial, each in an environment of its own in the cache.

`known` lists what there is and reads `NAME=VERSION`. `jar_sets` and `python_client` each provide
one kind of runtime; `chosen` puts those of a run together.
"""
