"""`tnp.ndarray` over a tensor: the class itself, its strides and memory order, and the order of its writes.

May import `_slicing` and the levels below it. Operators, methods and NumPy's functions stay out: `_methods`
and the chapters attach them to the class.
"""
