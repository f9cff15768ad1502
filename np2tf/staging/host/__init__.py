"""Calls that stay on NumPy: jit itself, originals, recursion, watched loops and their replacement. No
TensorFlow.
"""
