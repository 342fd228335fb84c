"""Pictures of the documentation, made anew from real runs."""
