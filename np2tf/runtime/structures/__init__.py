"""Values with several parts: carried values, containers, lists that grow, and stand-ins for arrays.

May import `operators` and `tnp`. Loops, branches and signatures stay out: they import this folder.
"""
