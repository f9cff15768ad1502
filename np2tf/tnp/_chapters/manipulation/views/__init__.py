"""Functions that return views: other shapes, orders of axes and parts of the same memory.

May import the levels below the chapters, and no other chapter. Functions that copy elements stay out.
"""
