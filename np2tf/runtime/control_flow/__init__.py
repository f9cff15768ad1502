"""Staged loops and branches: what an iteration or a side changes, and the TensorFlow loop or branch for it.

May import `arguments`, `tracing` and what lies below them. The operators that translated code calls belong
to `staged_operators`.
"""
