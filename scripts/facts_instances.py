"""Makes `src/phalanx/facts/data/instances.json` from an EC2 DescribeInstanceTypes answer.

    python scripts/facts_instances.py ANSWER.json[.gz] --source WORDS --verified DATE

`ANSWER` is what `aws ec2 describe-instance-types` prints, or a mapping of type to entry.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

from phalanx.facts.refresh import table

TARGET = Path(__file__).parent.parent / "src/phalanx/facts/data/instances.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answer", type=Path)
    parser.add_argument("--source", required=True)
    parser.add_argument("--licence", default="")
    parser.add_argument("--verified", required=True)
    words = parser.parse_args()
    raw = words.answer.read_bytes()
    if words.answer.suffix == ".gz":
        raw = gzip.decompress(raw)
    made = table(json.loads(raw), source=words.source, verified=words.verified)
    made["licence"] = words.licence
    rows = made.pop("rows")
    head = json.dumps(made, indent=1)[:-2]
    body = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in rows.items())
    TARGET.write_text(f'{head},\n "rows": {{\n{body}\n }}\n}}\n')


if __name__ == "__main__":
    main()
