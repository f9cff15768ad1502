"""The lowest level over TensorFlow: storage, staging scopes, staged integers, casts and kernels by dtype.

May import `_front` and `_warnings`. Knows tensors and NumPy dtypes only: nothing here may know the array
class, views or NumPy's signatures.
"""
