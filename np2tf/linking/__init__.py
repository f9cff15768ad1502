"""The files of a project: their summaries joined over imports, and NumPy's names that pass between them.

May import no other package of np2tf, except for `tree/python_trees.py`. Trees and facts stay out: summaries
(`summary.py`) are plain data, and other files' imports are read from their bytes.
"""
