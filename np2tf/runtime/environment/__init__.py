"""The process around a call: clock, forks, TensorFlow's import, and raw tensors at the boundary.

May import `operators` and `tnp`. Code that depends on one function or on a trace stays out.
"""
