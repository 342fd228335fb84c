"""Apache Flink under test: a job in one process, its checkpoints, and its crash points."""
