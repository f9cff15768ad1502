"""Sorting, and searching in what is sorted.

May import the levels below the chapters, `reductions` and `indexing`.
"""
