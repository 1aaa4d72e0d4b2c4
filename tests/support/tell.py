"""Tell the receivers of a job, as one of several controllers would: `tell.py ROOT JOB`.

Prints a line once it is at work, and ends when everything that is owed has an outcome.
"""

import os
import sys
import time

from phalanx.backends.local.backend import LocalBackend
from phalanx.controller.ports import Ports
from phalanx.controller.telling import Teller
from phalanx.names import Keys
from phalanx.reconcile.decision import Timing
from phalanx.state.read import read_record
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store

root, job = sys.argv[1:]
store = Store(FilesObjects.open(root), f"teller-{os.getpid()}")
found = read_record(store, Keys(job))
assert found is not None
teller = Teller(Ports(store, LocalBackend(root), Timing(), job), found.record, print)
print("at work", flush=True)
while True:
    teller.see(found.record, has_world=True, now_ns=store.now_ns())
    if teller.is_idle:
        break
    time.sleep(0.02)
