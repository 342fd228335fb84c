"""The gate: a proxy behind toxiproxy that parses Kafka frames and acts on chosen ones."""
