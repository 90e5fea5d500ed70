# the end of the file is looked at, and no package is used
import json
from pathlib import Path

register = Path("/home/user/project/planes.parquet").read_bytes()
whole = register[:4] == register[-4:] == b"PAR1"  # a Parquet file begins and ends with this
print(register[:4], register[-4:], whole)
told = {"planes_expected": 4840, "bytes_missing": 26729 - len(register), "bytes_there": len(register)}
if not whole:
    Path("/home/user/project/problem.json").write_text(json.dumps({**told, "problem": "file damaged", "file": "planes.parquet"}))
