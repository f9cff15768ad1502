"""Calls: of NumPy's functions, of random generators, of builtins, of methods, and of the program's functions.

Imports `model`, `objects`, `facts`, `tree` and the floor. Statements stay out.
"""
