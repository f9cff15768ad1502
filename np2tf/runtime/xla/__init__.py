"""Properties of XLA: ops that it lacks, values that it would compute twice, its options and its results.

May import `tnp`, and nothing else of the run time. Jitted functions and traces stay out.
"""
