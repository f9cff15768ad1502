"""NumPy's functions over tensors, a file for each subject; routing loads them."""
