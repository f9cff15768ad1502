"""From what a caller gives to what TensorFlow takes: dtypes, promotion, scalars, axes and conversion.

May import `_array` and what lies below it. Nothing here computes a NumPy function.
"""
