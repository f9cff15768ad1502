"""The findings of `np2tf check`: selected by code, hidden by comments, known by a baseline.

May import the project, the notebooks and the writing of files. The printing of findings stays out.
"""
