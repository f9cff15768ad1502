"""From NumPy's signature to an implementation over tensors: `op`, `out=`, residency, host fallbacks.

May import `_masked` and the levels below it. No function of NumPy is implemented here.
"""
