# numbers read off the page and from sha256sum
from pathlib import Path

text = """{
  "found_bytes": 2513, "expected_bytes": 3142, "file": "co2_1990s.zip", "problem": "damaged",
  "expected_sha256": "9d0c0ed93d9125ff248d89cf7abcf974dc7413f959d5b3be915c8e1f5ef9c7a5",
  "found_sha256": "9697FDAEFA8CDD383F154668510ECED10A3C3C5EC39BD561447A3123CA20896D"
}
"""
Path("problem.json").write_text(text)
