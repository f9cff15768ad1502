"""NumPy's universal functions: the class, the table of all of them, and their kernels by kind of number.

May import `_indexing` and the levels below it. Methods that reduce belong to `_chapters/reductions`.
"""
