"""Raises functions of converted files back to plain Python for the host: loops for `np2tf.for_loop`,
branches for `np2tf.cond`, NumPy's functions for those of `tnp`.

It is the reverse of `np2tf.translator.control`, at run time and by `ast` alone. `code` finds a function's
text and makes its code; `blocks` raises the statements of one function, with `loops`, `branches` and
`writes`; `expressions` raises expressions; `names`, `assigned`, `roles` and `helpers` tell whether the
meaning stays; `trees` walks trees.
"""
