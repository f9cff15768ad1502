"""Jupyter notebooks: their code cells as one program, and a translation of it put back into the cells."""
