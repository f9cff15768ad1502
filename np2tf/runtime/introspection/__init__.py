"""Inspection of Python objects: names in code, attributes and places of objects, libraries, frames of the
user.

May import `tnp`, and nothing else of the run time. Nothing here calls the user's code or TensorFlow.
"""
