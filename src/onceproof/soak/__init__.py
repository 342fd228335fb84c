"""Long series of runs, watched for leaks of memory, processes and disk space."""
