"""Questions about whole arrays: equality and closeness, kinds of numbers, common memory.

May import the levels below the chapters, and `reductions`. Elementwise comparisons are ufuncs, and stay out.
"""
