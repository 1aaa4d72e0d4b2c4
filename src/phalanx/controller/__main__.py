"""`python -m phalanx.controller --root R --job J`: drive one job of a folder root."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from phalanx.backends.local.backend import LocalBackend
from phalanx.controller.loop import run, say
from phalanx.controller.ports import Ports
from phalanx.errors import PhalanxError, StoreError
from phalanx.names import Keys
from phalanx.reconcile.decision import Timing
from phalanx.redaction.redactor import Redactor
from phalanx.redaction.values import declared_values, named_values
from phalanx.redaction.writer import hide, learn
from phalanx.state.read import read_record
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
        hide(Redactor(named_values(os.environ)))
        store = Store(FilesObjects.open(root, anchor=Keys(job).record), writer)
        learn(_redactor(store, job))
        return run(Ports(store, LocalBackend(root), Timing(), job), writer)
    except PhalanxError as error:
        say(error.line())
        return error.exit_code


def _redactor(store: Store, job: str) -> Redactor:
    """Hides what this job's tasks get by reference, beside what has the name of a secret."""
    values = named_values(os.environ)
    try:
        found = read_record(store, Keys(job))
    except (StoreError, ValueError):
        found = None  # the loop meets the same, and says so
    secrets = found.record.plan.secrets if found is not None else ()
    declared = {secret.name: os.environ.get(secret.reference, "") for secret in secrets}
    return Redactor({**values, **declared_values(declared, declared)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
