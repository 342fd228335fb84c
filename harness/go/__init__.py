"""Kafka clients in Go: programs in the contract of `harness.workload.task_file`."""
