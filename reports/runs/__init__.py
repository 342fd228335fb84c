"""Pages about many runs: the index of existing runs, and the matrix of requested ones."""
