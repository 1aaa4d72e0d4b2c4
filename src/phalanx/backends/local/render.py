"""The launch of one seat on this machine, as plain data. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from phalanx import names
from phalanx.backends.base import Request
from phalanx.backends.local import marks
from phalanx.plan.job import JobPlan
from phalanx.state.record import Seat

BOOTSTRAP = "phalanx.backends.local.claim"
AGENT = ("-m", "phalanx.agent")
_SLOTS_PER_NET = 250


@dataclass(frozen=True)
class Host:
    """What rendering must know of the machine."""

    root: str
    """Absolute folder of the root."""
    python: str
    gpus: tuple[str, ...] = ()
    """Ids of the GPUs that slots may get, as CUDA_VISIBLE_DEVICES takes them."""
    has_loopback_net: bool = True
    """Whether every address of 127.0.0.0/8 answers; else all slots share 127.0.0.1."""
    agent: tuple[str, ...] = AGENT
    """What the bootstrap runs once it owns the task: `-m module ...` or `-- command ...`."""


def render(host: Host, job: str, plan: JobPlan, seat: Seat) -> Request:
    """The request of one seat: equal inputs give equal bytes, and no secret's value is in it."""
    token = names.token(job, seat.slot, seat.incarnation, seat.tries)
    devices = slot_devices(host.gpus, seat.slot, plan.gpus_per_node)
    body = {
        "argv": [host.python, "-m", BOOTSTRAP, *host.agent],
        "cwd": "/",
        "defaults": _defaults(plan),
        "devices": list(devices),
        "env": {
            marks.JOB: job,
            marks.ROOT: host.root,
            marks.SLOT: str(seat.slot),
            marks.INCARNATION: str(seat.incarnation),
            marks.TRIES: str(seat.tries),
            marks.TASK: token,
            marks.ADDRESS: slot_address(seat.slot) if host.has_loopback_net else "127.0.0.1",
            marks.DEVICES: ",".join(host.gpus),
            marks.CUDA: ",".join(devices),
        },
        "gpus": plan.gpus_per_node,
        "secrets": {secret.name: secret.reference for secret in plan.secrets},
        "sources": sorted({secret.source for secret in plan.secrets}),
    }
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return Request(job, seat.slot, seat.incarnation, seat.tries, token, text)


def slot_devices(gpus: tuple[str, ...], slot: int, per_slot: int) -> tuple[str, ...]:
    """The GPUs of a slot; fewer than `per_slot` when the machine has not enough."""
    return gpus[slot * per_slot : (slot + 1) * per_slot]


def slot_address(slot: int) -> str:
    """The slot's own loopback address: 127.77.0.2 for slot 0, 127.77.0.3 for slot 1 ..."""
    net, host = divmod(slot, _SLOTS_PER_NET)
    return f"127.77.{net}.{host + 2}"


def _defaults(plan: JobPlan) -> dict[str, str]:
    """As torchrun: one thread for each rank unless the user or the shell says otherwise."""
    is_set = any(name == "OMP_NUM_THREADS" for name, _ in plan.env)
    return {} if is_set else {"OMP_NUM_THREADS": "1"}
