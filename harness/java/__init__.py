"""Java programs that use Kafka's Java client, and how to compile and start them."""
