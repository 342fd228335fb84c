"""What can be explored: one file for each kind of subject, all listed in `every.py`."""
