"""Programs in Java that use Kafka's own client, and how they are compiled and started."""
