"""Count, save and resume without torch: a rank that starts in a moment.

`count_steps.py STEPS STEP_S [WORD...]`; words: `stubborn` (ignores SIGTERM),
`held=N` (in the first attempt step N never ends).
"""

import os
import signal
import sys
import time

from phalanx.train import Checkpointer

steps, step_s = int(sys.argv[1]), float(sys.argv[2])
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = next(
    (int(word.removeprefix("held=")) for word in sys.argv if word.startswith("held=")), None
)
rank, files = os.environ["RANK"], os.environ["PHALANX_CHECKPOINT_DIR"]
with open(f"{files}/pid.{rank}.tmp", "w") as pid_file:
    pid_file.write(str(os.getpid()))
os.replace(f"{files}/pid.{rank}.tmp", f"{files}/pid.{rank}")

state = {"sums": {"total": 1.0}, "ballast": bytes(200_000)}
checkpointer = Checkpointer(state)
first = checkpointer.restore()
log = os.open(f"{files}/steps.{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
for step in range(first, steps):
    time.sleep(step_s)
    while step == held and os.environ["PHALANX_ATTEMPT"] == "0":
        time.sleep(1)
    state["sums"]["total"] = loss = (state["sums"]["total"] * 31.7 + step) % 1009.0
    line = f"{os.environ['PHALANX_ATTEMPT']} {step} {time.monotonic_ns()} {loss.hex()} {first} .\n"
    os.write(log, line.encode())
    checkpointer.step(step, loss=loss)
