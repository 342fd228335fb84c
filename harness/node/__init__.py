"""Kafka clients in JavaScript: programs in the contract of `harness.workload.task_file`."""
