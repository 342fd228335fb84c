"""Turn the rows of a minimal history into a scene, with one module per kind of party.

Every row is shown: `leftovers` lists in words what no other module draws, such as a new table.
"""
