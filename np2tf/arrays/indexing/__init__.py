"""x[key] and x[key] = v; selections: masks and run-time lengths without dynamic shapes under XLA."""
