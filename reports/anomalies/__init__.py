"""The anomalies, told one by one: a picture of a minimal history for each, as text and as SVG.

A picture is drawn from `Anomaly.minimal` after the checkers judged it, and
highlights the witness that they found; it never claims what they do not find.
"""
