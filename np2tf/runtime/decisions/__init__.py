"""What earlier processes have found out about functions, under names that last.

May import `environment` and `xla`. The measuring and the decision of one call belong to `compilation`.
"""
