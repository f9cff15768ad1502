"""Programs under `np2tf run`: finding one, executing it as `__main__`, its child processes and tracebacks.

May import `hooks` and what lies below it.
"""
