"""Functions that staged code calls: traced ones, known ones, and those that Python runs implicitly.

May import `jit`, `random`, `effects`, `environment` and `introspection`. Signatures and compiling stay out.
"""
