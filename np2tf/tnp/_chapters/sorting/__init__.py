"""Sorting, and searching in sorted arrays.

May import the levels below the chapters, `reductions` and `indexing`. Unique elements belong to `sets`.
"""
