"""Pure functions that build the parts of a report: tables, findings, timeline, headline.

An interrupted run has empty tables and NULL times; each part reports what there is and must not
fail.
"""
