"""`python -m phalanx.agent`: the agent of one task, told its place by the environment."""

from __future__ import annotations

import os
import sys

from phalanx.agent.loop import Agent, say
from phalanx.agent.seat import read_place
from phalanx.controller.start import ensure
from phalanx.errors import PhalanxError
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id


def main() -> int:
    """Exit code 0 also when superseded: that is an ordinary ending."""
    try:
        place = read_place(os.environ)
        store = Store(FilesObjects.open(place.root), writer_id())
        return Agent(place, store, lambda: ensure(store, place.root, place.job)).run()
    except PhalanxError as error:
        say(error.line())
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
