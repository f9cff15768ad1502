"""The inputs of a call: its signature, what the function captures, and how a trace sees both.

May import `tracing` and what lies below it. Running or compiling a call stays out.
"""
