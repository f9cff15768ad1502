"""Measurements that earlier processes made of functions, under names that last.

May import `environment` and `xla`. Measuring, and the decision on one call, belong to `compilation`.
"""
