"""The way from a call of a jitted function to compiled code: caches, budgets, concrete functions, results.

May import every folder of the run time but `report`. The decorator belongs to `jit`, which loads this folder
by name.
"""
