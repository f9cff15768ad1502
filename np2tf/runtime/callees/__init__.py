"""Functions that staged code calls: which are traced, which are known, and what Python runs by itself.

May import `jit`, `effects`, `random`, `structures` and what lies below them. Signatures and compiling stay
out.
"""
