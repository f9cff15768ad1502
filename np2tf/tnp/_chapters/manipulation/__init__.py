"""Functions that make new arrays from the elements of other arrays: joined, repeated, padded, packed.

May import the levels below the chapters, its folder `views`, and `creation`. Functions that
return views belong to `views`.
"""
