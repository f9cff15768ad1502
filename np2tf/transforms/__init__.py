"""Transforms of functions: gradients, products with Jacobians, batches, scans, and derivatives that users
give.

The transforms have JAX's signatures and meaning. They work on translated functions, on functions of `tnp`,
and on plain functions over NumPy, whose source is translated when a transform runs them.
"""
