"""Functions that staged code calls: traced ones, known ones, and those that Python runs implicitly.

May import `jit`, `effects`, `random`, `structures` and the levels below them. Signatures and compiling stay
out.
"""
