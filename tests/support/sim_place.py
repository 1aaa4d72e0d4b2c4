"""The simulated cloud as a `Place` of the contract suite: every look lets a second go by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from phalanx.backends.base import Request
from phalanx.plan.job import JobPlan
from phalanx.sim.backend import Moods, SimBackend
from phalanx.sim.clock import FOREVER, Loop, Steps, stream
from phalanx.sim.cloud import Cloud, Occupant, SimTask
from phalanx.state.observed import ObservedTask
from phalanx.state.record import Seat


class Sleeper(Occupant):
    """Runs until told to end, and takes the signal at its word."""

    def __init__(self, place: SimPlace, task: SimTask) -> None:
        self.place = place
        self.task = task
        super().__init__(place.loop, task.id)

    def life(self) -> Steps:
        yield self.idle(FOREVER)

    def ask_to_leave(self) -> None:
        self.place.clouds[self.task.request.job].end(self.task, 143, "told to end", 0.0)


class Looking(SimBackend):
    """Time passes between two looks. One cloud for each job, as one family of tasks."""

    def __init__(self, place: SimPlace, job: str) -> None:
        super().__init__(place.clouds[job], place.moods[job])
        self.place = place

    def launch(self, request: Request) -> None:
        self._of(request.job).submit(request)

    def observe(self, job: str) -> tuple[ObservedTask, ...]:
        self.place.pass_time(1.0)
        return self._of(job).tell()

    def _of(self, job: str) -> Cloud:
        return self.place.clouds[job]


class SimPlace:
    """The simulator, and what its surroundings do to it."""

    def __init__(self, folder: Path) -> None:
        self.loop = Loop()
        self.plan = JobPlan(name="demo", command=("none",), nodes=4)
        self.clouds: dict[str, Cloud] = {}
        self.moods: dict[str, Moods] = {}
        for job in ("demo-1", "demo-2"):
            self._add(job)
        self.backend = self.controller()

    def controller(self) -> Looking:
        return Looking(self, "demo-1")

    def submit(self, job: str, *seats: Seat) -> None:
        """Nothing here reads a record."""

    def finish(self, task: ObservedTask, code: int) -> None:
        cloud = self._cloud_of(task)
        cloud.end(cloud.tasks[task.id], code, "it ended", 5.0)

    def kill(self, task: ObservedTask) -> None:
        cloud = self._cloud_of(task)
        cloud.end(cloud.tasks[task.id], 137, "killed", 5.0)

    def close(self) -> None:
        """Nothing lives."""

    def pass_time(self, seconds: float) -> None:
        self.loop.after(seconds, lambda _: None)
        self.loop.run(self.loop.now_s + seconds, lambda: False)

    def _cloud_of(self, task: ObservedTask) -> Cloud:
        return next(c for c in self.clouds.values() if task.token in self._tokens(c))

    def _tokens(self, cloud: Cloud) -> Iterator[str]:
        return (t.request.token for t in cloud.tasks.values())

    def _add(self, job: str) -> None:
        cloud = Cloud(self.loop, stream(job), lambda task: Sleeper(self, task), lambda text: None)
        self.clouds[job] = cloud
        self.moods[job] = Moods(cloud, stream(job, "moods"))
