"""Products of arrays in NumPy's main namespace: dot, outer, einsum, convolutions; `linalg` builds on them.

May import the levels below the chapters and `manipulation.views`; no `linalg`.
"""
