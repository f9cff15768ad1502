"""Single functions, classes and notebook cells translated in place, and staged versions of functions that
compiled code calls.
"""
