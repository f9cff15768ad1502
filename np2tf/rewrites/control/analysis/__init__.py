"""Analyses for lowering: tests known while staging, refusals, lists that only one name refers to.

May import `constructs`, `common`, `facts` and `tree`. Nothing here edits a tree.
"""
