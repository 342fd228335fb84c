"""The page about an exploration."""
