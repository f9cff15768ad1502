"""Programs under `np2tf run`: finding a program, executing it as `__main__`, its child processes and
tracebacks.

May import `hooks`. Single functions and classes belong to `functions`.
"""
