"""What is known of a whole module: scopes, imports, parents, positions, kinds of expressions.

May import `tree` and the floor. These make up `Facts`, so nothing here may ask `Facts`.
"""
