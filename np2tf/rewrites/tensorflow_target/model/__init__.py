"""The model of a module while its values are followed: values, operations, tables, decisions and edits.

Imports `facts`, `tree`, `planning` and the floor. Code that follows statements or calls stays out.
"""
