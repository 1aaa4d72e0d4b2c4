"""A small stand-in for the agent: runs `<root>/standin/script.py`, then waits for its end.

It ends with the code in `<root>/standin/end-<slot>` once that file is there, and on SIGTERM
unless the script arranged something else.
"""

from __future__ import annotations

import os
import signal
import sys
import time


def main() -> None:
    folder = os.path.join(os.environ["PHALANX_ROOT"], "standin")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    script = os.path.join(folder, "script.py")
    if os.path.exists(script):
        with open(script, encoding="utf-8") as file:
            exec(compile(file.read(), script, "exec"), {"__name__": "script"})
    end = os.path.join(folder, f"end-{os.environ['PHALANX_SLOT']}")
    while not os.path.exists(end):
        time.sleep(0.01)
    with open(end, encoding="utf-8") as file:
        sys.exit(int(file.read()))


if __name__ == "__main__":
    main()
