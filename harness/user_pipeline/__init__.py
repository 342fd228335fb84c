"""Pipelines of somebody's own: their command, what goes in, how what comes out is read."""
