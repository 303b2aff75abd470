"""Programs of the tutorial chapter."""
