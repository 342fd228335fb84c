"""The hazards of user pipelines, one module for each kind; `registry` lists them all."""
