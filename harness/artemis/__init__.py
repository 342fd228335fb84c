"""The queue broker Apache ActiveMQ Artemis: configuration, programs and auditor."""
