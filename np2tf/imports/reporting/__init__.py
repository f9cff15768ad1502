"""Messages about modules and functions that could not be translated completely.

Imports nothing else of `imports`, at import. Finding and loading modules stays out.
"""
