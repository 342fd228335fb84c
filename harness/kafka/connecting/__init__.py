"""Connection and security properties for all clients of the harness."""
