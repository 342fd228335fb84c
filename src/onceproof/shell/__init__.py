"""`onceproof shell`: SQL queries on the tables of a run. It never changes the run."""
