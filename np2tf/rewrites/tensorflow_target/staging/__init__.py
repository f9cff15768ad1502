"""Loops and branches of a translation for TensorFlow alone, as functions that a graph may run.

`plan_loops` is the way in. Imports `model`, `facts`, `tree`, `planning`, `mutation` and the floor.
"""
