"""Transforms of functions: gradients, products with Jacobians, batches, scans and rules of the user's.

The transforms have JAX's signatures and meaning. They work on translated functions, on functions of `tnp`, and
on plain functions over NumPy, whose source is translated when a transform runs them. May import the run time
and, for functions that are not translated yet, the translator (`np2tf.runtime.callees.eager_callees` loads it).
Training, saving and data pipelines stay out.
"""
