"""The inputs of a call: its signature, the function's captures, and the form in which a trace sees both.

May import `tracing` and the levels below it. Running or compiling a call stays out.
"""
