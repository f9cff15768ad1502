"""Functions on the host: the originals of translated functions, their timing, and their recursion.

May import `replacement` and the levels below it. Nothing here stages or compiles.
"""
