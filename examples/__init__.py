"""Demonstrations: NumPy source run by np2tf, beside the same written by hand for TensorFlow and for JAX.

Each folder is one demonstration. `source.py` is plain NumPy, `__init__.py` has the use of np2tf and the list
of calls to compare, `by_tensorflow.py` and `by_jax.py` have the versions written by hand. `common/` measures,
compares, prints and draws. `python -m examples` lists the demonstrations.
"""
