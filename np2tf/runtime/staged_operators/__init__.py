"""The versions of the operators for staged values, which translated code calls.

May import `control_flow` and the levels below it. Python's meaning of an operator belongs to
`np2tf/operators/table.py`, where each operator has its row.
"""
