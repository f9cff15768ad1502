"""Selections: `x[mask]` and `x[:i]` under XLA as a whole array and a mask, and operations on them.

May import `_operands` and the levels below it. Keys and NumPy's functions stay out: they call this folder.
"""
