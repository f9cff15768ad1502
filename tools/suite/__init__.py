"""NumPy's own tests on the op library: how they are imported, run, judged and reported."""
