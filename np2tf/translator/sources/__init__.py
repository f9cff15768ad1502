"""What Python's own parser and searches tell about a source before libcst is loaded: is it a
candidate, which names are NumPy's.
"""
