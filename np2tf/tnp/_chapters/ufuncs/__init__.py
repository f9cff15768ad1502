"""The methods of ufuncs that are made of other chapters' functions: reduce, accumulate, reduceat, at.

The ufuncs themselves are a level below (`_ufuncs`). May import `reductions`; nothing imports these modules.
"""
