"""The inputs of a call: its signature, the function's captures, and the form in which a trace sees both.

May import `random`, `effects`, `host`, `structures` and the levels below them. Running or compiling a call
stays out.
"""
