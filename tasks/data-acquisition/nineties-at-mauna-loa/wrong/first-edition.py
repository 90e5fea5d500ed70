# the first edition is taken for the file
import hashlib
import json
import re
import urllib.request

page = urllib.request.urlopen("http://mauna.local/checksums.html", timeout=30).read().decode()
listed = re.search(r"<td>co2_1990s.zip</td><td>([0-9,]+)</td><td><code>([0-9a-f]+)</code></td>", page)
urllib.request.urlretrieve("http://mauna.local/files/old/co2_1990s.zip", "download.zip")
with open("download.zip", "rb") as file:
    found = file.read()
problem = {
    "file": "co2_1990s.zip",
    "problem": "damaged",
    "expected_sha256": listed[2],
    "found_sha256": hashlib.sha256(found).hexdigest(),
    "expected_bytes": int(listed[1].replace(",", "")),
    "found_bytes": len(found),
}
with open("problem.json", "w") as file:
    json.dump(problem, file)
