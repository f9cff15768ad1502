"""Reads, writes and definite assignment within one function, and its induction variables.

May import `tree` and the floor. The meaning of expressions to NumPy stays out.
"""
