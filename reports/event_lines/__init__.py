"""Everything that happens in a run, as lines of JSON while it happens (`--json-events`).

The shape of a line is published and has a version (`model`); a new optional
field or a new kind of line keeps it, anything else is a new version.
"""
