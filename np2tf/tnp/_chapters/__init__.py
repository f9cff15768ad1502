"""NumPy's functions over tensors, by the chapters of `rules/`: one module or folder for each stem.

May import the levels from `_front` to `_ufuncs`, and other chapters as far as tests/test_layers.py lists
them. What more than one chapter needs and is no NumPy function belongs to a level below.
"""
