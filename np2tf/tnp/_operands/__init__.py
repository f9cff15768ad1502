"""From a caller's operands to TensorFlow's operands: dtypes, promotion, scalars, axes and conversion.

May import `_array` and the levels below it. Nothing here computes a NumPy function.
"""
