"""Source text as a tree: parsing, printing, walking and quoting.

May import the floor (rules, diagnostics) and libcst. What code means, to Python or to NumPy, stays out.
"""
