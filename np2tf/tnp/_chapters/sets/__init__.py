"""Arrays as sets: unique elements, and operations with the elements of two arrays.

May import the levels below the chapters, and `sorting`. Sorting itself stays out.
"""
