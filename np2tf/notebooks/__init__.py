"""Jupyter notebooks: their code cells as one program, and a translation of it put back into the cells.

May import trees of sources. What translates the program stays out.
"""
