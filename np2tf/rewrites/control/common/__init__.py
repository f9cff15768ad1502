"""Parts that the lowering of every construct uses: layout, names of helpers, scopes, marks, closures.

May import `facts` and `tree`. No construct belongs here.
"""
