"""Raw trials, one JSON line each, kept so that an interrupted run goes on where it was."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench import place

Trial = dict[str, Any]


class Trials:
    """The trials of one part: those of the code as it is now, of this size (QUICK or full)."""

    def __init__(self, part: str, folder: Path = place.RAW, code: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{part}{'.quick' if place.QUICK else ''}.jsonl"
        self.code = place.code_digest() if code is None else code
        text = self.path.read_text() if self.path.exists() else ""
        if text and not text.endswith("\n"):  # cut short when the last run was killed
            text = text[: text.rfind("\n") + 1]
            self.path.write_text(text)
        kept = [json.loads(line) for line in text.splitlines()]
        self.all: list[Trial] = [trial for trial in kept if trial["code"] == self.code]

    def of(self, case: str, system: str) -> list[Trial]:
        """What one system did in one case, in order."""
        return [t for t in self.all if (t["case"], t["system"]) == (case, system)]

    def values(self, case: str, system: str, name: str) -> list[float]:
        """One number of every such trial."""
        return [t[name] for t in self.of(case, system)]

    def add(self, case: str, system: str, trial: int, **words: Any) -> None:
        """Keep one trial."""
        line = {"case": case, "system": system, "trial": trial, "at": int(time.time())}
        whole = {**line, "code": self.code, **words}
        with open(self.path, "a") as file:
            file.write(json.dumps(whole) + "\n")
        self.all.append(whole)

    def has(self, case: str, system: str, trial: int) -> bool:
        """Whether it was done in this or an earlier run."""
        return any(t["trial"] == trial for t in self.of(case, system))

    def interleave(
        self,
        case: str,
        systems: Mapping[str, Callable[[int], Trial]],
        trials: int,
        most: Mapping[str, int] | None = None,
    ) -> None:
        """A-B-A-B: one trial of every system, then the next.

        `most` caps single systems, whose trials are spread over the whole run.
        """
        for trial in range(trials):
            for system, once in systems.items():
                share = (most or {}).get(system, trials)
                if not is_due(trial, trials, share) or self.has(case, system, trial):
                    continue
                try:
                    words = once(trial)
                except RuntimeError as error:
                    say(f"  {case}, {system}, trial {trial}: left out: {error}")
                    continue
                self.add(case, system, trial, **words)
                shown = {k: v for k, v in words.items() if isinstance(v, (int, float, bool))}
                say(f"  {case}, {system}, trial {trial}: {_short(shown)}")


def is_due(trial: int, trials: int, share: int) -> bool:
    """Whether a system that takes part in `share` of the trials takes part in this one."""
    return trial * share // trials > (trial - 1) * share // trials


def _short(words: Mapping[str, float]) -> str:
    return ", ".join(f"{k} {v:.4g}" for k, v in words.items())


def say(text: str) -> None:
    """A line for whoever watches."""
    print(text, file=sys.stderr, flush=True)
