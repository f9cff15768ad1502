"""`tnp.ndarray` over a tensor: the class itself, its strides and memory order, and the order of its writes.

May import `_slicing` and the levels below it. Operators, methods and NumPy's functions are attached from
above.
"""
