"""Functions as they run on the host: the originals of translated ones, timed, and their recursion.

May import `replacement` and what lies below it. Nothing here stages or compiles.
"""
