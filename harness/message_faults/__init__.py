"""Hit every message of a Kafka transaction with every fault, exactly: `make exact-faults`."""
