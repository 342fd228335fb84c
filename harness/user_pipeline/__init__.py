"""Your own pipelines: how they are started, fed, observed and read."""
