"""Raises functions of converted files back to plain Python for the host: loops for `np2tf.for_loop`, tests for
`np2tf.cond`, NumPy's functions for those of `tnp`.

The reverse of `np2tf.translator.control`, at run time and by `ast` alone. `code` finds a function's text and
makes the function, `blocks` raises the statements of one scope, `helpers` puts a helper's statements in the place
of its call, `expressions` raises expressions, `names` and `assigned` prove that the meaning stays.
"""
