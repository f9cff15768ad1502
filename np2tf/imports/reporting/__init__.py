"""What is said of modules and functions that could not be translated wholly.

Imports nothing else of `imports`, at import. Finding and loading modules stays out.
"""
