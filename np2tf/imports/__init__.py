"""Import paths that configurations name: the pytest plugin."""
