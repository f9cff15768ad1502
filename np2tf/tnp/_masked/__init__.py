"""Selections: `x[mask]` and `x[:i]` under XLA as a whole array and a mask, and work on them.

May import `_operands` and what lies below it. Keys and NumPy's functions stay out: they ask this folder.
"""
