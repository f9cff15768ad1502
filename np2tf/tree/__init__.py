"""Source text as a tree: parsing, printing, walking and quoting.

May import the floor (rules, diagnostics) and libcst. The meaning of code, in Python or in NumPy, stays out.
"""
