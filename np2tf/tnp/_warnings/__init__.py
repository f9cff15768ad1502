"""NumPy's warnings, deprecations and floating-point errors, and the user's line that they point to.

Imports no other folder of `tnp`. The computation of results stays out.
"""
