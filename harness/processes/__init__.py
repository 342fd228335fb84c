"""Processes of a run: started, watched, found again and ended whole."""
