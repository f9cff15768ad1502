"""`x[key]` and `x[key] = value`, for every form of key that NumPy has.

May import `_dispatch` and the levels below it. Functions such as `take` and `put` belong to
`_chapters/indexing`.
"""
