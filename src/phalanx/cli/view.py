"""Text for people, made from the very objects that `--json` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

View = dict[str, Any]

BAR = 24
"""Characters of a bar that stands for everything."""
SLOW_SHOWN = 4
"""Slow ranks that are named, slowest first."""
PASSED_SHOWN = 3
"""Attempts that passed an unreadable checkpoint over, newest last."""

_LABELS = {
    "useful": "steps that a checkpoint or the end has kept",
    "recomputed": "steps that were lost",
    "checkpoint": "training blocked by saving",
    "restart": "start, detection, rendezvous, restore",
    "waiting": "for capacity",
    "degraded": "waiting for a slow rank",
    "idle": "done, waiting for the others or the end",
    "pending": "not yet covered by a checkpoint",
    "unknown": "nobody measured it",
}
"""What the labels of the ledger mean, in a few words."""

_COLOURS = {
    "Running": "green",
    "Succeeded": "green",
    "Failed": "red",
    "Stopped": "yellow",
    "Restarting": "yellow",
    "Stopping": "yellow",
    "Paused": "yellow",
}


def status(view: View) -> str:
    """A job in a dozen lines."""
    rows = [
        ("job", view["job"]),
        ("phase", f"{phase(view['phase'])}  {view['reason']}: {view['message']}"),
        ("step", steps(view)),
        ("checkpoint", _checkpoint(view["checkpoint"])),
        ("attempt", _attempt(view)),
    ]
    if view["nodes"]["min"] < view["nodes"]["max"]:
        rows.append(("nodes", _nodes(view["nodes"])))
    if view.get("init_from"):
        rows.append(("began from", origin(view["init_from"])))
    if view["verdict"]:
        rows.append(("verdict", cause(view["verdict"])))
    if view["warning"]:
        rows.append(("warning", view["warning"]))
    rows += _notes(view)
    lines = [f"{name:<11} {text}" for name, text in rows]
    lines += [_task(task) for task in view["tasks"]]
    lines += [_past(view, past) for past in view["history"]]
    lines += [_untold(told) for told in view["messages"] if told["state"] == "failed"]
    return "\n".join(lines)


def ending(view: View) -> str:
    """How a job stands or ended, in one line."""
    text = f"{view['job']} {phase(view['phase'])} at step {steps(view)}"
    if view["verdict"]:
        return f"{text}; {cause(view['verdict'])}"
    return text if view["phase"] == "Succeeded" else f"{text}; {view['message']}"


def verified(view: View) -> str:
    """One line a problem, and one a checkpoint that is whole."""
    lines = []
    for item in view["checkpoints"]:
        lines += [f"{item['where']}: {problem}" for problem in item["problems"]]
        if not item["problems"]:
            began = f"; its job began from {origin(item['init_from'])}" if item["init_from"] else ""
            lines.append(f"{item['where']}: whole, every byte was read{began}")
    return "\n".join(lines) or "no checkpoint is committed there yet"


def why(view: View) -> str:
    """Phase, cause, evidence, what was done, next action."""
    lines = [
        f"{view['job']} is {phase(view['phase'])} since {view['since']}",
        f"{view['reason']}: {view['message']}",
    ]
    if view["first_cause"]:
        what = "first cause" if view["phase"] == "Failed" else "last restart"
        lines.append(f"{what}: {cause(view['first_cause'])}")
    for item in view["evidence"]:
        lines.append(f"  {item['where']}: {item['says']}")
    lines += [f"done: {item['says']}" for item in view["done"]]
    at = f" at {view['next']['at']}" if view["next"]["at"] else ""
    lines.append(f"next: {view['next']['action']}{at}")
    return "\n".join(lines)


def ledger(view: View) -> str:
    """A bar per label, and the three ratios."""
    total = view["instance_ns"]
    lines = [
        f"{view['job']} ({view['phase']}): {seconds(total)} of instance time"
        f" in {seconds(view['wall_ns'])} by the wall"
    ]
    for label, value in view["labels"].items():
        share = value / total if total else 0.0
        bar = "█" * round(share * BAR)
        text = _LABELS.get(label, "") if value else ""
        lines.append(f"{label:<11} {seconds(value):>10} {share:6.1%} {bar:<{BAR}} {text}".rstrip())
    lines.append(f"{'sum':<11} {seconds(sum(view['labels'].values())):>10}  = instance time")
    lines += [f"{'slow':<11} attempt {slow['attempt']}: {slow['message']}" for slow in view["slow"]]
    ratios = [f"{name} {_percent(value)}" for name, value in view["ettr"].items()]
    lines.append(f"useful share: {', '.join(ratios)}")
    return "\n".join(lines)


def checkpoints(view: View) -> str:
    """One checkpoint a line, and which one a restart would take."""
    if not view["checkpoints"]:
        return "no checkpoints yet"
    rows = [("CHECKPOINT", "STEP", "ATTEMPT", "RANKS", "SIZE", "STATE")]
    for item in view["checkpoints"]:
        state = "committed" if item["committed"] else "not committed"
        if item["refused_because"]:
            state = f"refused: {item['refused_because']}"
        if item["name"] == view["resume_from"]:
            state += ", resume from here"
        rows.append(
            (
                item["name"],
                str(item["step"]),
                str(item["attempt"]),
                str(item["world_size"] or "-"),
                size(item["bytes"] or 0),
                state,
            )
        )
    began = view.get("init_from")
    return table(rows) + (f"\nthe job began from {origin(began)}" if began else "")


def pruned(view: View) -> str:
    """One line a checkpoint that went, and how much that was."""
    verb = "would go" if view["dry_run"] else "is deleted"
    lines = [f"{item['name']}  {size(item['bytes'] or 0)}  {verb}" for item in view["pruned"]]
    stays = f"{len(view['kept'])} stay"
    return "\n".join([*lines, stays]) if lines else f"nothing to prune; {stays}"


def restored(view: View) -> str:
    """Where it lies now, and how big it is."""
    said = f"step {view['step']} of {view['job']} is in {view['to']}, {size(view['bytes'])}:"
    return "\n".join([said, *(f"  {name}" for name in view["files"])])


def origin(view: View | None) -> str:
    """What a job began from, in a few words."""
    if view is None:
        return "nothing"
    if view["weights"]:
        return f"the weights in {view['weights']}"
    what = "everything" if view["take"] == "all" else "the weights"
    return f"{what} of step {view['step']} of {view['job']}"


def phase(text: str) -> str:
    """A phase in its colour."""
    return click.style(text, fg=_COLOURS.get(text))


def cause(view: View) -> str:
    """`Killed: rank 1 (slot 1) was killed by SIGKILL`; the message says where."""
    return f"{view['class']}: {view['message']}"


def steps(view: View) -> str:
    """`840/2000 (42 %), loss 1.93, 1m03s to go`."""
    text = str(view["step"])
    if view["total_steps"]:
        text = f"{text}/{view['total_steps']} ({view['step'] * 100 // view['total_steps']} %)"
    text += "".join(f", {name} {number(value)}" for name, value in view["metrics"].items())
    return f"{text}, {seconds(view['eta_s'] * 10**9)} to go" if view["eta_s"] is not None else text


def number(value: float | None) -> str:
    """Four digits; what JSON cannot hold is `nan`."""
    return "nan" if value is None else f"{value:.4g}"


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Columns as wide as their widest word."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def seconds(duration_ns: int) -> str:
    """`0.25s`, `12.3s`, `4m05s`, `2h03m`."""
    value = duration_ns / 1e9
    if value < 60:
        return f"{value:.2f}s" if value < 10 else f"{value:.1f}s"
    whole = int(value)
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def size(count: int) -> str:
    """`812 B`, `3.9 MiB`."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def _notes(view: View) -> list[tuple[str, str]]:
    """What is waited for, what could not be read, who is slow."""
    waits = [("waiting", text) for text in view["waits"]]
    passed = [("unreadable", one["message"]) for one in view["passed_over"][-PASSED_SHOWN:]]
    return [*waits, *passed, *(("slow", slow["message"]) for slow in view["slow"][:SLOW_SHOWN])]


def _checkpoint(view: View | None) -> str:
    if view is None:
        return "none yet"
    when = f", committed {view['committed_at']}" if view["committed_at"] else ""
    return f"step {view['step']} by attempt {view['attempt']}{when}"


def _nodes(nodes: View) -> str:
    return f"{nodes['now']} take part (min {nodes['min']}, max {nodes['max']})"


def _attempt(view: View) -> str:
    restarts = view["restarts"]
    ranks = "1 rank" if view["world_size"] == 1 else f"{view['world_size']} ranks"
    return (
        f"{view['attempt']} with {ranks}"
        f" (restarts: {restarts['counted']} counted, {restarts['uncounted']} not)"
    )


def _task(task: View) -> str:
    ranks = ", ".join(f"rank {r['rank']} pid {r['pid']}" for r in task["ranks"])
    state = f"parked, {task['state']}" if task.get("parked") else task["state"]
    words = [f"slot {task['slot']}.{task['incarnation']}", state, task["host"], ranks]
    return "  ".join(("task      ", *(word for word in words if word)))


def _untold(told: View) -> str:
    return f"message     {told['message']} to {told['to']} was not delivered: {told['says']}"


def _past(view: View, past: View) -> str:
    return (
        f"history     attempt {past['attempt']} ended {past['ended']}:"
        f" {cause(past['first_cause'])}; {_went_on(view, past)}"
    )


def _went_on(view: View, past: View) -> str:
    step = past["resumed_from_step"]
    if not step:
        return "nothing was committed"
    if past["attempt"] < view["attempt"]:
        return f"resumed from step {step}"
    return f"rests at step {step}" if view["phase"] == "Paused" else f"step {step} is saved"


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"
