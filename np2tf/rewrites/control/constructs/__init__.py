"""The lowering of Python's constructs to operators of np2tf, with one construct in each file.

May import `common`, `facts` and `tree`. Decisions about whole functions belong to `rewrites/control`.
"""
