"""Python's code and objects, examined without running them: names in code, attributes, places, the user's
frames.
"""
