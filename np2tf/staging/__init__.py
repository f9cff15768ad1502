"""Runs jitted functions: on the host while that pays, else traced and compiled; staged loops, branches and
effects.
"""
