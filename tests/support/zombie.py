"""Ranks and agent of an old attempt that wake up late: `zombie.py ROOT JOB ATTEMPT WORLD STEP`.

Writes the shards of every rank, stops itself, and once continued states the parts and tries to
commit them. Prints how that ended.
"""

import os
import signal
import sys

from phalanx.checkpoint.commit import Committer, commit
from phalanx.clock import SystemClock
from phalanx.names import Keys
from phalanx.store.files import FilesObjects
from phalanx.store.store import Store
from phalanx.store.writer import writer_id
from phalanx.train.environment import Surroundings
from phalanx.train.saving import Outlet, Saver
from phalanx.train.telling import AgentLine

root, job, attempt, world, step = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
store, keys = Store(FilesObjects.open(root), writer_id()), Keys(job)
os.kill(os.getpid(), signal.SIGSTOP)
for rank in range(world):
    here = Surroundings(job, attempt, rank, world, root)
    saver = Saver(here, Outlet(store, keys, AgentLine(""), SystemClock()))
    name = saver.begin(step, {"sums": {"total": -1.0}}, ())
    saver.wait()
    assert saver.problem is None, saver.problem
outcome = commit(store, keys, Committer(attempt, world), name)
print(outcome.state.value, outcome.reason)
