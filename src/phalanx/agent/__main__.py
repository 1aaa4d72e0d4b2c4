"""`python -m phalanx.agent`: the agent of one task, told its place by the environment."""

from __future__ import annotations

import os
import sys

from phalanx.agent.loop import Agent, say
from phalanx.agent.seat import read_place
from phalanx.controller.start import ensure
from phalanx.errors import PhalanxError
from phalanx.names import Keys
from phalanx.redaction.redactor import Redactor
from phalanx.redaction.values import named_values
from phalanx.redaction.writer import hide
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id


def main() -> int:
    """Exit code 0 also when superseded: that is an ordinary ending."""
    try:
        hide(Redactor(named_values(os.environ)))
        place = read_place(os.environ)
        record = Keys(place.job).record
        store = Store(FilesObjects.open(place.root, anchor=record), writer_id())
        return Agent(place, store, lambda: ensure(store, place.root, place.job)).run()
    except PhalanxError as error:
        say(error.line())
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
