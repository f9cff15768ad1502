"""The versions of the operators for staged values, which translated code calls.

May import `control_flow` and the levels below it. A new operator has a row in `np2tf/operators/table.py`.
"""
