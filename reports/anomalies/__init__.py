"""The reference of anomalies: each with a picture of a minimal history, as text and as SVG.

A picture is drawn from `Anomaly.minimal` after the checkers judged it, and highlights only the
witness that they found.
"""
