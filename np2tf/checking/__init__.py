"""The findings of `np2tf check`: selected by code, hidden by comments, known by a baseline.

May import the project, notebooks and what writes files. How findings are printed stays out.
"""
