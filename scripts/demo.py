"""`make demo`: a real training job loses a rank half-way, goes on, and ends as if it had not.

Trains examples/gpt over two tasks with two ranks each, kills a rank with SIGKILL between two
checkpoints, and checks every promise on the way. Exit 0 when all of them held, 1 when one did
not, 130 after Ctrl-C; whatever happens, no process of the job stays behind.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import phalanx
from phalanx.app.account import facts_of
from phalanx.app.jobs import find_job
from phalanx.app.root import open_root
from phalanx.cli import view
from plot import plot

HOME = Path(__file__).resolve().parents[1]
JOB_FILE = HOME / "examples" / "gpt" / "job.yaml"
GOAL_NATS = 0.8
"""How far the held-out loss must lie below the entropy of single bytes."""
VICTIM = 2
"""Rank 2 lives in the second task, so the task that reports the losses is a survivor."""
SAVE_EVERY = 50
POLL_S = 0.1
PLAIN_EVERY_S = 10.0
FINAL = ("Succeeded", "Failed", "Stopped")
GIVE_UP_S = 900.0
PROMISED_S = 180.0
_STEP = re.compile(r"step (\d+) loss (\S+)")
_FIGURE = re.compile(r"(held-out loss|unigram entropy|parameters|weights): (\S+)")


class Broken(Exception):
    """A promise that did not hold, in one line."""


@dataclass
class Kill:
    """What was killed, when (store clock), and what was committed then."""

    pid: int
    step: int
    at_ns: int
    committed: int


@dataclass
class Demo:
    """One run of the demo."""

    root: str
    steps: int
    started: float = field(default_factory=time.monotonic)
    job: str = ""
    pids: set[int] = field(default_factory=set)
    kill: Kill | None = None
    is_resumed: bool = False
    told: str = ""
    told_at: float = 0.0

    def say(self, text: str = "", colour: int = 0) -> None:
        """One line of the story, with the seconds since the start."""
        self.wipe()
        painted = f"\x1b[{colour}m{text}\x1b[0m" if colour and on_terminal() else text
        print(f"{time.monotonic() - self.started:6.1f} s  {painted}", flush=True)

    def show(self, text: str) -> None:
        """The progress: rewritten in place on a terminal, else a plain line now and then."""
        now = time.monotonic()
        if on_terminal():
            if text != self.told:
                columns = os.get_terminal_size(sys.stdout.fileno()).columns or 80
                print(f"\r\x1b[K{f'          {text}'[: columns - 1]}", end="", flush=True)
                self.told = text
        elif now - self.told_at >= PLAIN_EVERY_S:
            self.told_at = now
            self.say(text)

    def wipe(self) -> None:
        """Take the progress line away."""
        if self.told:
            print("\r\x1b[K", end="", flush=True)
            self.told = ""

    def losses(self, attempt: int | None = None) -> dict[int, str]:
        """Step → the loss that rank 0 printed, digit by digit."""
        lines = phalanx.logs(self.job, root=self.root, rank=0, attempt=attempt)
        found = (_STEP.fullmatch(line["text"]) for line in lines)
        return {int(match[1]): match[2] for match in found if match}


def on_terminal() -> bool:
    """Whether to rewrite lines and use colours."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and "NO_COLOR" not in os.environ


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=str(HOME / ".phalanx"), help="where the job is kept")
    parser.add_argument("--steps", type=int, default=600, help="steps of the whole training")
    args = parser.parse_args()
    demo = Demo(os.path.abspath(args.root), args.steps)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        story(demo)
        return 0
    except KeyboardInterrupt:
        demo.say("interrupted")
        return 130
    except Broken as broken:
        demo.say(f"the demo failed: {broken}", 31)
        return 1
    except phalanx.PhalanxError as error:
        demo.say(f"the demo failed: {error.line()}", 31)
        return error.exit_code
    finally:
        clean_up(demo)


def story(demo: Demo) -> None:
    """The demo from start to end. Raises `Broken`."""
    start(demo)
    while True:
        seen = phalanx.status(demo.job, root=demo.root)
        remember(demo, seen)
        if seen["phase"] in FINAL:
            break
        if time.monotonic() - demo.started > GIVE_UP_S:
            raise Broken(f"not done after {GIVE_UP_S:.0f} s: {seen['phase']}, {seen['message']}")
        follow(demo, seen)
        time.sleep(POLL_S)
    if seen["phase"] != "Succeeded":
        raise Broken(f"{demo.job} ended {seen['phase']}: {seen['message']}")
    demo.say(f"phase Succeeded, {seen['step']} of {demo.steps} steps", 32)
    check_restart(demo, seen)
    check_losses(demo)
    check_model(demo)
    check_ledger(demo)
    check_nothing_lives(demo)
    draw(demo)
    finish(demo)


def start(demo: Demo) -> None:
    """Submit the job."""
    sets = [f'command=[python, train.py, --steps, "{demo.steps}"]', f"total_steps={demo.steps}"]
    sets += [f"checkpoint.every={SAVE_EVERY} steps"]
    demo.job = phalanx.run(str(JOB_FILE), root=demo.root, sets=sets)["job"]
    demo.say(f"started {demo.job}: a small GPT, {demo.steps} steps, 2 tasks x 2 ranks on this CPU")


def remember(demo: Demo, seen: dict[str, Any]) -> None:
    """Keep every pid that the job ever showed."""
    for task in seen["tasks"]:
        demo.pids |= {int(task["id"])} if task["id"] else set()
        demo.pids |= {rank["pid"] for rank in task["ranks"]}


def follow(demo: Demo, seen: dict[str, Any]) -> None:
    """Show where the job is; kill when it is time; say when it goes on."""
    losses = demo.losses(seen["attempt"])
    step = max(losses, default=0)
    if demo.kill is None and step >= demo.steps // 2 and 20 <= step % SAVE_EVERY <= 30:
        demo.kill = kill_rank(demo, seen, step)
    elif demo.kill is not None and not demo.is_resumed and losses and seen["history"]:
        demo.is_resumed = True
        say_restart(demo, seen)
    elif not step:
        demo.show(f"{seen['phase']}: {seen['message']}")
    else:
        loss = float(losses[step])
        done = 30 * step // demo.steps
        eta = f", {seen['eta_s']} s to go" if seen["eta_s"] is not None else ""
        bar = f"{'━' * done}{'─' * (30 - done)} " if on_terminal() else ""
        demo.show(f"{bar}step {step} of {demo.steps}, loss {loss:.3f}{eta}")


def kill_rank(demo: Demo, seen: dict[str, Any], step: int) -> Kill | None:
    """SIGKILL to one rank; None when its pid is not known yet."""
    ranks = {rank["rank"]: rank["pid"] for task in seen["tasks"] for rank in task["ranks"]}
    if VICTIM not in ranks:
        return None
    pid, store = ranks[VICTIM], open_root(demo.root).store
    committed = seen["checkpoint"]["step"] if seen["checkpoint"] else 0
    at_ns = store.now_ns()
    os.kill(pid, signal.SIGKILL)
    demo.say(f"killed rank {VICTIM} (pid {pid}) at step {step}", 31)
    return Kill(pid, step, at_ns, committed)


def say_restart(demo: Demo, seen: dict[str, Any]) -> None:
    """The line of the restart: which step, and how long the gang stood still."""
    assert demo.kill is not None
    job = find_job(open_root(demo.root), demo.job)
    facts = facts_of(job)
    known = [*facts.entries, *(live.entry for live in facts.lives)]
    firsts = [e.start_ns + e.restart_ns for e in known if e and e.attempt == seen["attempt"]]
    took = f"{(max(firsts) - demo.kill.at_ns) / 1e9:.2f} s" if firsts else "an unknown time"
    step = resumed_step(demo, seen)
    demo.say(
        f"resumed from the committed step {step}; all ranks had finished the next step {took}"
        " after the kill",
        33,
    )


def resumed_step(demo: Demo, seen: dict[str, Any]) -> int:
    """Step of the checkpoint that the world of the newest attempt named."""
    job = find_job(open_root(demo.root), demo.job)
    worlds = [w for w in facts_of(job).worlds if w.attempt == seen["attempt"]]
    return worlds[0].checkpoint_step if worlds else 0


def check_restart(demo: Demo, seen: dict[str, Any]) -> None:
    """The kill is in the history as what it was, and nothing committed was lost."""
    if demo.kill is None or not demo.is_resumed or not seen["history"]:
        raise Broken("no rank was lost, so nothing was shown; try more --steps")
    cause = seen["history"][0]["first_cause"]
    if (cause["class"], cause["rank"]) != ("Killed", VICTIM):
        raise Broken(f"the first cause should be rank {VICTIM} Killed, not {cause['message']}")
    step = resumed_step(demo, seen)
    if not demo.kill.committed <= step <= demo.kill.step or step % SAVE_EVERY:
        raise Broken(f"resumed from step {step}, committed was {demo.kill.committed}")


def check_losses(demo: Demo) -> None:
    """Steps that ran twice, before and after the kill, had the same losses to the last bit."""
    before, after = demo.losses(0), demo.losses(1)
    twice = sorted(before.keys() & after.keys())
    wrong = [step for step in twice if before[step] != after[step]]
    if wrong or not twice:
        raise Broken(f"losses of steps that ran twice differ: {wrong}" if wrong else "none twice")
    words = ", ".join(str(step) for step in twice)
    demo.say(f"steps that ran twice ({words}): the same losses, to the last bit")


def check_model(demo: Demo) -> None:
    """The loss goal, the sample, and weights that others can read."""
    lines = [line["text"] for line in phalanx.logs(demo.job, root=demo.root, rank=0, attempt=1)]
    figures = dict(match.groups() for line in lines if (match := _FIGURE.match(line)))
    if len(figures) < 4 or "sample:" not in lines:
        raise Broken("rank 0 did not report its model; see `phalanx logs`")
    loss, entropy = float(figures["held-out loss"]), float(figures["unigram entropy"])
    margin = entropy - loss
    met = margin >= GOAL_NATS
    demo.say(
        f"held-out loss {loss:.3f} nats per byte, {margin:.3f} below the unigram entropy"
        f" {entropy:.3f} (goal: {GOAL_NATS} below): {'met' if met else 'MISSED'}",
        32 if met else 31,
    )
    if not met:
        raise Broken(f"the loss goal was missed by {GOAL_NATS - margin:.3f} nats")
    first = lines.index("sample:") + 1
    last = next(i for i, line in enumerate(lines) if line.startswith("weights: "))
    demo.say("what the model writes after `def read(`:")
    print("\n".join(f"          │ {line}" for line in lines[first:last]))
    check_weights(demo, figures["weights"], int(figures["parameters"].strip(";").replace(",", "")))


def check_weights(demo: Demo, path: str, parameters: int) -> None:
    """The exported file, read with the safetensors library and nothing of phalanx."""
    from safetensors.numpy import load_file

    weights = load_file(path)
    count = sum(weight.size for weight in weights.values())
    if count != parameters:
        raise Broken(f"{path} holds {count} parameters, the model has {parameters}")
    shown = os.path.relpath(path) if not os.path.relpath(path).startswith("..") else path
    demo.say(f"weights: {shown} ({len(weights)} tensors, {count:,} parameters, read back)")


def check_ledger(demo: Demo) -> None:
    """Every nanosecond has a label, and they add up exactly."""
    ledger = phalanx.ledger(demo.job, root=demo.root)
    demo.say("where the time went:")
    print("\n".join(f"          {line}" for line in view.ledger(ledger).splitlines()))
    total, parts = ledger["instance_ns"], sum(ledger["labels"].values())
    if total != parts:
        raise Broken(f"the ledger's labels sum to {parts} ns, not to {total} ns")
    demo.say(f"the labels sum to {total:,} ns exactly")


def check_nothing_lives(demo: Demo) -> None:
    """Nothing of the job is left on this machine."""
    deadline = time.monotonic() + 10
    while alive := [pid for pid in demo.pids if is_alive(pid)]:
        if time.monotonic() > deadline:
            raise Broken(f"the job has ended and its processes {alive} still live")
        time.sleep(POLL_S)
    demo.say(f"none of the job's {len(demo.pids)} processes is left")


def is_alive(pid: int) -> bool:
    """Whether a process has this pid; a zombie is dead."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def draw(demo: Demo) -> None:
    """The loss curve."""
    assert demo.kill is not None
    losses = [(step, float(loss)) for step, loss in sorted(demo.losses().items())]
    points = [(losses[i][0], mean(losses[max(0, i - 4) : i + 1])) for i in range(len(losses))]
    demo.say("training loss (nats per byte, mean over the last 5 shown) by step:")
    mark = (demo.kill.step, f"rank {VICTIM} killed at step {demo.kill.step}")
    print("\n".join(plot(points, mark=mark)))


def mean(losses: list[tuple[int, float]]) -> float:
    """Mean loss of some steps: single batches are too noisy to draw."""
    return sum(loss for _, loss in losses) / len(losses)


def finish(demo: Demo) -> None:
    """The last line: the time, and how to look around."""
    took = time.monotonic() - demo.started
    where = os.path.relpath(demo.root)
    demo.say(f"look around: .venv/bin/phalanx why {demo.job} --root {where}")
    if took > PROMISED_S:
        busy = f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} CPUs"
        demo.say(f"slower than the promised {PROMISED_S:.0f} s: this machine is busy ({busy})", 33)
    demo.say(f"done: every promise held, {took:.0f} s in all", 32)


def clean_up(demo: Demo) -> None:
    """Stop the job if it still runs."""
    demo.wipe()
    if not demo.job:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if phalanx.status(demo.job, root=demo.root)["phase"] not in FINAL:
            demo.say(f"stopping {demo.job}")
            phase = phalanx.stop(demo.job, root=demo.root, timeout_s=60)["phase"]
            demo.say(f"{demo.job} is {phase}")
    except phalanx.PhalanxError as error:
        demo.say(f"{demo.job} could not be stopped: {error.line()}")


if __name__ == "__main__":
    sys.exit(main())
