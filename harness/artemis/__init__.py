"""Apache ActiveMQ Artemis, a broker of queues: its configuration, its programs, our way to look."""
