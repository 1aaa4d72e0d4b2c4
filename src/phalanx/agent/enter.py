"""`python -m phalanx.agent.enter WORDS`: join a task from outside, as a person does.

Started inside a task, with the environment that its agent was started with. WORDS is one JSON
object:

    {"command": [...], "rank": R}   become that command in the surroundings of a rank; an empty
                                    command means a shell, no rank the first of the slot
    {"stacks": true}                print the stacks of the slot's ranks as one JSON object

With `"parent": PID` beside them the command dies with that process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from phalanx.agent import processes
from phalanx.agent.environment import Place, base_environment, every_rank, rank_environment
from phalanx.agent.seat import SeatPlace, inherited_environment, own_files, read_place
from phalanx.errors import BackendError, InputError, PhalanxError
from phalanx.frozen import frozen
from phalanx.names import Keys
from phalanx.state import read
from phalanx.state.gang import World
from phalanx.state.record import Record
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id

MARK = "PHALANX_EXEC"
"""Set in what is started here: `phalanx.train` keeps out of the job then."""
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""As shells have it."""
_SPEAKS_FOR_THE_RANK = ("PHALANX_RANK_DIR", "PHALANX_AGENT_SOCKET", "TORCHELASTIC_ERROR_FILE")
"""Left out: whoever has them can report steps, saves and errors in the rank's name."""


@frozen
class Surroundings:
    """What a command in a slot starts with."""

    env: Mapping[str, str]
    folder: str


def environment_of(
    record: Record, world: World | None, place: SeatPlace, rank: int | None
) -> dict[str, str]:
    """The variables of a rank of this slot; those of the slot alone while there is no world.

    Raises `BackendError` for a rank that is not of this slot.
    """
    plan = record.plan
    env = base_environment(plan, inherited_environment(os.environ))
    if world is None or not world.has(place.slot, place.incarnation):
        if rank is not None:
            raise BackendError(f"rank {rank} has not started: attempt {record.attempt} gathers")
        return {**env, MARK: "1"}
    world = every_rank(plan, world)
    first = world.first_rank(place.slot)
    count = next(m.ranks for m in world.members if m.slot == place.slot)
    local_rank = 0 if rank is None else rank - first
    if not 0 <= local_rank < count:
        has = f"{first} to {first + count - 1}"
        raise BackendError(f"rank {rank} is not in slot {place.slot}, whose ranks are {has}")
    scratch = os.path.join(place.scratch, str(world.attempt), str(local_rank))
    files = own_files(place)
    where = Place(place.job, place.root, place.slot, world.attempt, files, scratch, "")
    env.update(rank_environment(plan, world, where, local_rank))
    return {**{k: v for k, v in env.items() if k not in _SPEAKS_FOR_THE_RANK}, MARK: "1"}


def surroundings(place: SeatPlace, store: Store, rank: int | None) -> Surroundings:
    """Environment and folder of a rank of this slot. Raises what the root or the source raises."""
    from phalanx.agent.workplace import source_folder

    record = _record(store, place)
    world = read.read_world(store, Keys(place.job), record.attempt)
    env = environment_of(record, world, place, rank)
    return Surroundings(env, source_folder(place, store, record.plan))


def become(command: Sequence[str], inside: Surroundings) -> NoReturn:
    """Replace this process by the command, or by a shell when there is none."""
    words = list(command) or [shell(inside.env)]
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(signum, signal.SIG_DFL)
    try:
        os.chdir(inside.folder)
        os.execvpe(words[0], words, dict(inside.env))
    except OSError as error:
        _say(f"{words[0]}: {error.strerror} (it is looked for in the slot's folder and PATH)")
        is_missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        sys.exit(NOT_FOUND if is_missing else NOT_EXECUTABLE)


def shell(env: Mapping[str, str]) -> str:
    """The user's shell where it exists, else the one that every system has."""
    named = env.get("SHELL", "")
    return named if os.path.isabs(named) and os.access(named, os.X_OK) else "/bin/sh"


def _record(store: Store, place: SeatPlace) -> Record:
    found = read.read_record(store, Keys(place.job))
    if found is None:
        raise InputError(f"there is no job {place.job} under {place.root}")
    return found.record


def _say(text: str) -> None:
    print(f"phalanx: {text}", file=sys.stderr, flush=True)


def main(argv: Sequence[str]) -> int:
    """Do what WORDS says. Returns an exit code only for what it refuses, and after stacks."""
    words: dict[str, Any] = json.loads(argv[0])
    try:
        if "parent" in words:
            processes.die_with_parent(int(words["parent"]))
        place = read_place(os.environ)
        store = Store(FilesObjects.open(place.root), writer_id())
        if words.get("stacks"):
            from phalanx.agent.asking import ask_ranks

            print(json.dumps({"ranks": ask_ranks(place, store, _record(store, place))}))
            return 0
        become(words.get("command") or (), surroundings(place, store, words.get("rank")))
    except PhalanxError as error:
        _say(error.line())
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
