"""Calls: of NumPy's functions, of random generators, of builtins, of methods, and of the program's functions.

Imports `model`, `objects`, `mutation`, `facts`, `tree` and the floor.
"""
