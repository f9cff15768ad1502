"""What may be lowered: tests known while staging, refusals, lists that only one name knows.

May import `constructs`, `common`, `facts` and `tree`. Nothing here edits a tree.
"""
