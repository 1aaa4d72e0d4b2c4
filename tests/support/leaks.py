"""A script that gives its secrets away in every way that a script can."""

import base64
import os
import sys
import time

files = os.environ["PHALANX_CHECKPOINT_DIR"]
token, inherited = os.environ["MY_TOKEN"], os.environ["TEAM_PASSWORD"]
shaped = os.environ["SHAPED"].replace("~", "")

os.write(1, f"split: {token[:7]}".encode())
open(f"{files}/ready", "w").close()
while not os.path.exists(f"{files}/go"):
    time.sleep(0.01)
os.write(1, f"{token[7:]} was split\n".encode())

print(dict(os.environ))
print("basic", base64.b64encode(f"user:{token}".encode()).decode())
print(f"inherited {inherited}, shaped {shaped}", file=sys.stderr)
print(f"https://me:{inherited}@host/path useful words stay")
sys.stdout.write(f"no end: {token}")
sys.stdout.flush()
raise RuntimeError(f"refused with {token} and {shaped}")
