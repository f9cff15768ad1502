"""Loops and branches of a translation for TensorFlow alone, as functions that a graph may run.

The entry is `plan_loops`. Imports `model`, `facts`, `tree`, `planning`, `mutation` and the floor. Code that
follows values stays out.
"""
