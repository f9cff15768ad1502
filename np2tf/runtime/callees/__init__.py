"""Functions that staged code calls: traced functions, known functions, and functions that Python runs
implicitly.

May import `jit`, `random`, `effects`, `environment` and `introspection`. Signatures and compiling stay out.
"""
