"""What is known while values are followed: values, operations on them, the tables, decisions and edits.

Imports `facts`, `tree`, `planning` and the floor. Nothing here follows a statement or decides of a call.
"""
