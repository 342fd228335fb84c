"""A proxy that reads Kafka's frames and acts on chosen ones: the gate behind toxiproxy."""
