"""Functions that read or write elements: `take`, `where`, `put`, `x.flat`, `nditer`.

May import the levels below the chapters, and `manipulation/views`. The forms of `x[key]` belong to
`_indexing`.
"""
