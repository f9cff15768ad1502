"""From NumPy's signature to a function over tensors, the place of its result, and what NumPy computes
instead.
"""
