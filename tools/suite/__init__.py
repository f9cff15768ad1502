"""NumPy's own tests on the op library: import them, run them, judge and report the results."""
