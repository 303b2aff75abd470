"""What keeps the notebooks and the package together."""
