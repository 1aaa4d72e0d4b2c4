"""The warm parent: a Python with torch imported that forks the ranks of every attempt.

`python -m phalanx.agent.warm FD CONFIG` speaks JSON over the sequenced-packet socket FD:

    in   {"op":"fork","key":K,"argv":[...],"env":{...},"cwd":D}  with two descriptors: out, err
         {"op":"store","address":A}                    serve a fresh collective store
    out  {"op":"ready"}   {"op":"forked","key":K,"pid":P}   {"op":"exit","pid":P,"status":S}
         {"op":"store","pid":P,"port":N}

It stays single-threaded and never touches a device, so that its forks are sound. Importing takes
seconds, forking milliseconds: that is the difference between a cold and a warm restart.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any

from phalanx.agent.processes import die_with_parent, open_pidfd

MESSAGE_MAX = 1 << 20
PRELOAD = (
    "numpy",
    "torch",
    "torch.distributed",
    "torch.nn.parallel",
    "torch.optim",
    "torch.utils.data",
    "phalanx.train",
)


def preload(extra: list[str]) -> list[str]:
    """Import what training scripts import, and take one throw-away optimizer step.

    Returns a sentence for each module of `extra` that cannot be imported; ours may be missing.

    The step pulls in what torch imports lazily. It runs no backward pass: that would start
    threads, and a process with threads must not fork. Its random draws are taken back.
    """
    for name in PRELOAD:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    failed = [said for name in extra if (said := _import(name))]
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        _take_a_step(torch)
    return failed


def _import(name: str) -> str:
    """Import a module that the job file names; what stands in the way, '' for nothing.

    Whatever the module raises, the ranks can run without it: they only start more slowly.
    """
    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as error:
        kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
        return f"warm: {name} cannot be imported: {kind}{' '.join(str(error).split())}"
    return ""


def _take_a_step(torch: Any) -> None:
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1") or 1))
    state = torch.get_rng_state()
    layer = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(layer.parameters())
    with torch.no_grad():
        torch.nn.functional.cross_entropy(layer(torch.ones(2, 4)), torch.tensor([1, 2]))
    for parameter in layer.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad()
    torch.set_rng_state(state)


class Warm:
    """The serving side: forks on request, reports how children end."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.children: dict[int, int] = {}
        """pidfd → pid."""

    def send(self, **words: Any) -> None:
        """One message to the agent; an agent that is gone takes us with it anyway."""
        with contextlib.suppress(OSError):
            self.link.send(json.dumps(words).encode())

    def serve(self) -> dict[str, Any] | None:
        """Serve until the link closes (None) or this process is a new child (its request)."""
        poll = select.poll()
        poll.register(self.link.fileno(), select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd != self.link.fileno():
                    poll.unregister(fd)
                    self._reap(fd)
                    continue
                data, fds, _, _ = socket.recv_fds(self.link, MESSAGE_MAX, 2)
                if not data:
                    return None
                request: dict[str, Any] = json.loads(data)
                pidfd = self._fork(request, fds)
                if pidfd is None:
                    return request
                if pidfd >= 0:
                    poll.register(pidfd, select.POLLIN)

    def _fork(self, request: dict[str, Any], fds: list[int]) -> int | None:
        """In the parent the child's pidfd (-1 when it is gone already), in the child None."""
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            die_with_parent(parent)
            for fd in self.children:
                os.close(fd)
            request["fds"] = fds
            return None
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        for fd in fds:
            os.close(fd)
        if request["op"] == "fork":
            self.send(op="forked", key=request["key"], pid=pid)
        pidfd = open_pidfd(pid)
        if pidfd is None:
            return -1
        self.children[pidfd] = pid
        return pidfd

    def _reap(self, pidfd: int) -> None:
        pid = self.children.pop(pidfd)
        os.close(pidfd)
        try:
            _, status = os.waitpid(pid, 0)
        except ChildProcessError:
            status = -1
        self.send(op="exit", pid=pid, status=status)


def serve_store(request: dict[str, Any], link: socket.socket) -> None:
    """Serve a collective store on a free port until killed. Runs in a forked child."""
    import torch.distributed as dist

    store = dist.TCPStore(
        request["address"], 0, is_master=True, wait_for_workers=False, use_libuv=True
    )
    words = {"op": "store", "pid": os.getpid(), "port": store.port}
    link.send(json.dumps(words).encode())
    link.close()
    while True:
        signal.pause()


def main(argv: list[str]) -> None:
    """Serve; in a forked child return to run the request as the main program."""
    link = socket.socket(fileno=int(argv[0]))
    os.set_inheritable(link.fileno(), False)
    config = json.loads(argv[1])
    die_with_parent(int(config["parent"]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # `-m` put the folder we were started in first; the user's modules come with the ranks.
    sys.path[0:1] = config["path"]
    failed = preload(config["warm"])
    del sys.path[0 : len(config["path"])]
    # What children need at once is imported here, and what exists is left out of garbage
    # collection: a collection in a child would copy every page of it.
    from phalanx.agent.rank_main import run_script

    gc.collect()
    gc.freeze()
    warm = Warm(link)
    warm.send(op="ready", threads=len(os.listdir("/proc/self/task")))
    request = warm.serve()
    if request is None:
        os._exit(0)
    if request["op"] == "store":
        serve_store(request, link)
    link.close()
    # Once a slot and attempt, where people look: in what its first rank prints.
    request["notes"] = failed if request["key"] == 0 else []
    run_script(request)


if __name__ == "__main__":
    main(sys.argv[1:])
