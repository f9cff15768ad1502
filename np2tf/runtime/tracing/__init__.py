"""A trace: its inputs, where its arrays come from, and what must hold while it is made.

May import `random`, `effects`, `structures`, `host` and what lies below them. How a construct is staged
stays out.
"""
