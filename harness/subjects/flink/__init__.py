"""Apache Flink on trial: a job in one process, its checkpoints, and the moments to kill it at."""
