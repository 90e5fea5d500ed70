import hashlib
import json
import re
import urllib.request
from pathlib import Path

HERE = Path("/home/user/project")
NAME = "co2_1990s.zip"


def fetch(address):
    with urllib.request.urlopen("http://mauna.local/" + address, timeout=30) as answer:
        return answer.read()


page = fetch("checksums.html").decode()
row = re.search(r"zip</td><td>([\d,]+)</td><td><code>([0-9a-f]{64})", page)
data = fetch("files/" + NAME)
(HERE / "download.zip").write_bytes(data)
problem = {
    "file": NAME,
    "problem": "damaged",
    "expected_sha256": row[2],
    "found_sha256": hashlib.sha256(data).hexdigest(),
    "expected_bytes": int(row[1].replace(",", "")),
    "found_bytes": len(data),
}
assert (problem["found_sha256"], problem["found_bytes"]) != (problem["expected_sha256"], problem["expected_bytes"])
(HERE / "problem.json").write_text(json.dumps(problem, indent=2))
