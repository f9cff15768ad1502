"""Rewrites: each recognises one pattern and adds edits to a Plan.

May import `planning`, `mutation`, `control`, `facts` and `tree`. An analysis without edits belongs to
`facts`.
"""
