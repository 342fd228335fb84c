"""The events of a run as lines of JSON, written as they happen (`--json-events`).

The format of a line (`model`) is published and versioned. New optional fields and new kinds of line
keep the version; any other change needs a new one.
"""
