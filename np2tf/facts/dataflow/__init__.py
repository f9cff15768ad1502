"""Reads, writes and definite assignment within one function, and its induction variables.

May import `tree` and the floor. What an expression means to NumPy stays out.
"""
