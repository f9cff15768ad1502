"""The lowering of one Python construct to an operator of np2tf in each file.

May import `common`, `facts` and `tree`. `rewrites/control` decides whether a construct is lowered.
"""
