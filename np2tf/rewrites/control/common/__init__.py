"""What every construct is lowered with: layout, names of helpers, scopes, marks, closures.

May import `facts` and `tree`. No construct belongs here.
"""
