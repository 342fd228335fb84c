"""What anomalies need to mutate a history for the self-check, and what several of them share.

The mutations themselves are in the files of the anomalies that must be found.
"""
