from __future__ import annotations
from typing import NamedTuple
class Prospect(NamedTuple):
    name: str
    line: int
    is_loop: bool
    code: str = ""
    reason: str = ""
    reason_line: int = 0
def loop_prospects(data, path):
    return []
