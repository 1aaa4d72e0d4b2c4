"""Two ranks and an agent that save and commit until they are killed: `save_forever.py ROOT`."""

import sys
from pathlib import Path

from tests.support.saves import Saves

saves = Saves(Path(sys.argv[1]))
head = saves.head()
attempt = head.attempt + 1 if head else 0
saves.seal(attempt)
step = int((head.checkpoint if head and head.checkpoint else "0").split("-")[0])
while True:
    step += 1
    for rank in (0, 1):
        name = saves.write(step, attempt, rank, 2, {"data": bytes(300_000 + rank), "step": step})
    saves.commit(name, attempt, 2)
    print(step, flush=True)
