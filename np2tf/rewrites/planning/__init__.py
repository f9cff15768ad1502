"""The plan of edits, and the translation of each use of a NumPy name.

May import `facts`, `tree` and the floor. Every rewrite imports this folder; no rewrite belongs here.
"""
