"""Facts about a whole module: scopes, imports, parents, positions, kinds of expressions.

May import `tree` and the floor. `Facts` is made of these modules, so the use of `Facts` stays out.
"""
