"""`python -m phalanx.controller --root R --job J`: drive one job of a folder root."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from phalanx.backends.local.backend import LocalBackend
from phalanx.controller.loop import run, say
from phalanx.controller.ports import Ports
from phalanx.errors import PhalanxError
from phalanx.reconcile.decision import Timing
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id


def main(argv: list[str]) -> int:
    """Exit code 0 when the job is settled or somebody else drives it."""
    words = dict(zip(argv[::2], argv[1::2], strict=False))
    root, job = Path(words["--root"]), words["--job"]
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    writer = writer_id()
    try:
        store = Store(FilesObjects.open(root), writer)
        return run(Ports(store, LocalBackend(root), Timing(), job), writer)
    except PhalanxError as error:
        say(error.line())
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
