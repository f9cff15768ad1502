"""Reductions over axes: sums, extremes, truth, running sums, `reduce`, `accumulate` and `reduceat`.

May import the levels below the chapters, and no other chapter.
"""
