"""Functions saved as models that TensorFlow loads without np2tf, and loaded from there."""
