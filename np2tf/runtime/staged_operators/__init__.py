"""The operators that translated code calls, where values are staged.

May import `control_flow` and what lies below it. A new operator has a row in `np2tf/operators/table.py`.
"""
