"""An audit: what a cluster holds, read as it is. Nothing is broken here, and nothing written."""
