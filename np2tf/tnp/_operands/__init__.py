"""From the operands of a caller to those of TensorFlow: dtypes, promotion, scalars, axes and conversion.

May import `_array` and the levels below it. Nothing here computes a NumPy function.
"""
