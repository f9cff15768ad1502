"""From NumPy's signature to an implementation over tensors: `op`, `out=`, residency, host fallbacks.

May import `_masked` and what lies below it. No function of NumPy's is implemented here.
"""
