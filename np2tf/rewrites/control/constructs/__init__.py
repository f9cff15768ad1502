"""One construct of Python a file: its lowering to an operator of np2tf.

May import `common`, `facts` and `tree`. Whether a construct is lowered is decided in `rewrites/control`.
"""
