"""Log every step to three trackers and to phalanx; no process group, one rank."""

import os
import sys
import time

import mlflow
import torch

from phalanx.train import Checkpointer
from phalanx.train.trackers import mlflow_run, tensorboard_writer, wandb_run

steps, step_s = int(sys.argv[1]), float(sys.argv[2])
files, attempt = os.environ["PHALANX_CHECKPOINT_DIR"], int(os.environ["PHALANX_ATTEMPT"])
with open(f"{files}/pid.0", "w") as pid_file:
    pid_file.write(str(os.getpid()))
mlflow.set_tracking_uri(f"file://{files}/mlruns")
mlflow.set_experiment("tests")
state = {"x": torch.zeros(3)}
checkpointer = Checkpointer(state)
first = checkpointer.restore()
board, runs = tensorboard_writer(), (wandb_run(project="tests"), mlflow_run())
log = os.open(f"{files}/steps.0", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
for step in range(first, steps):
    state["x"] += 1
    time.sleep(step_s)
    loss = attempt + 1 / (step + 1)
    board.add_scalar("loss", loss, step)
    for run in runs:
        run.log({"loss": loss}, step)
    os.write(log, f"{attempt} {step} {time.monotonic_ns()} {loss.hex()} {first} .\n".encode())
    checkpointer.step(step, loss=loss)
board.close()
for run in runs:
    run.finish()
