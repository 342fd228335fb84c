"""Start, watch, find and end the processes of a run."""
