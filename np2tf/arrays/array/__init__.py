"""tnp.ndarray: a storage seen through a chain of view transforms; memory layout; slices."""
