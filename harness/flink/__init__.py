"""A job of Apache Flink in Java, and how it is compiled and started in one process."""
