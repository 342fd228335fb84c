"""The parts that a report is put together from: tables, findings, timeline, headline.

All of it is pure. A run that was interrupted has empty tables and NULL
times; every part must tell what there is and not fail over what there is not.
"""
