"""NumPy's warnings, deprecations and floating-point errors, and the user's line that they point to.

Imports nothing else of `tnp`. How a result is computed does not belong here.
"""
