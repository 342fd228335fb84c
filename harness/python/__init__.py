"""Programs in Python whose packages do not fit into the harness's own environment."""
