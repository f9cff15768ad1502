"""NumPy's functions over tensors, by the chapters of `rules/`: one module or folder for each stem.

May import the levels from `_front` to `_ufuncs`, and other chapters as far as tests/test_layers.py lists
them. Helpers that more than one chapter needs, and that are not NumPy functions, belong to a level below.
"""
