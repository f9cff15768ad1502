"""SciPy's functions over tensors: a file for each chapter of rules/scipy, of the same name."""
