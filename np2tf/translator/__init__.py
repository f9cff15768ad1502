"""From NumPy's source text to np2tf's. It never imports NumPy or TensorFlow."""
