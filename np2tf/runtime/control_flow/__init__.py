"""Staged loops and branches: the changes of an iteration or a branch, and the TensorFlow loop or branch for
them.

May import `arguments`, `tracing` and the levels below them. The operators that translated code calls belong
to `staged_operators`.
"""
