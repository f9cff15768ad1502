"""Loops made into functions, and code in which loops are watched, for on-stack replacement.

May import `np2tf.runtime.replacement`. Works on Python's `ast`: no libcst, no cache, no import system.
"""
