"""The hazards of the user's pipelines, a module for each kind; `table` has them all."""
