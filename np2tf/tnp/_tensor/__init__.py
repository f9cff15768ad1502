"""The lowest level over TensorFlow: storage, staging scopes, staged integers, casts and kernels by dtype.

May import `_front` and `_warnings`. Knows tensors and NumPy dtypes only: the array class, views and NumPy's
signatures stay out.
"""
