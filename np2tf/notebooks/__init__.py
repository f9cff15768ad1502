"""Jupyter notebooks: read the code cells as one program, and put its translation back into the cells.

May import trees of sources. The translation of the program stays out.
"""
