"""A trace: its inputs, the provenance of its arrays, and the conditions that hold while it is made.

May import `random`, `effects`, `structures`, `host` and the levels below them. The staging of constructs
stays out.
"""
