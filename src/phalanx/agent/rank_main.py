"""Become a rank: the forked child runs the user's script as `python script.py` would."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import runpy
import signal
import sys
import threading
import time
import traceback
from typing import Any, NoReturn

from phalanx.agent import stacks
from phalanx.agent.command import Script, python_script
from phalanx.owned import append_to, write_private


def run_script(request: dict[str, Any]) -> NoReturn:
    """Run the script of a fork request in this process, then end as Python ends.

    `request`: argv, env (complete), cwd, fds (out, err), notes (lines of ours, printed first).
    Exceptions of the script are printed, left in the error file that torch's launcher uses too,
    and give exit code 1.
    """
    script = python_script(request["argv"])
    if script is None:
        raise ValueError("the warm parent runs plain Python scripts only")
    _take_over(request)
    for text in request.get("notes", ()):
        # Not on standard error: its last lines are taken for why a rank failed.
        print(f"phalanx: {text}", flush=True)
    code = 0
    try:
        _reseed()
        _run(script)
    except SystemExit as error:
        code = _exit_code(error)
    except BaseException as error:
        _leave_error(error)
        _print_error(error)
        code = 1
    _finish(code)


def _exit_code(error: SystemExit) -> int:
    """The code that Python would exit with: a text is printed and gives 1."""
    if error.code is None or isinstance(error.code, int):
        return (error.code or 0) & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def _finish(code: int) -> NoReturn:
    """End as Python does, without taking the interpreter down module by module.

    Threads are waited for and exit functions run; only the teardown is left out, which takes a
    second with torch loaded and is where torch is known to abort.
    """
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except SystemExit as error:
        code = _exit_code(error)
    except BaseException as error:
        _print_error(error)
    _flush()
    os._exit(code)


def _take_over(request: dict[str, Any]) -> None:
    out, err = request["fds"]
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (out, 1), (err, 2)):
        os.dup2(source, target)
        if source > 2:
            os.close(source)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)
    _register_stacks()


def _register_stacks() -> None:
    """On `stacks.SIGNAL` all threads' stacks go to a file of this rank, even from C code."""
    folder = os.environ.get("PHALANX_RANK_DIR")
    if folder:
        # Appending, since the agent empties the file before it asks again. Open for good.
        file = open(append_to(f"{folder}/stacks"), "a")  # noqa: SIM115
        faulthandler.register(stacks.SIGNAL, file=file, all_threads=True, chain=False)
    faulthandler.enable()


def _reseed() -> None:
    """Forked siblings share numpy's global generator; give each one of its own."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()


def _run(script: Script) -> None:
    sys.argv = [script.target, *script.arguments]
    if script.is_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(script.target, run_name="__main__", alter_sys=True)
        return
    sys.path.insert(0, os.path.dirname(os.path.abspath(script.target)))
    runpy.run_path(script.target, run_name="__main__")


def _leave_error(error: BaseException) -> None:
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if not path or os.path.exists(path):
        return
    words = {
        "message": f"{type(error).__name__}: {error}",
        "extraInfo": {
            "py_callstack": traceback.format_exc(),
            "timestamp": str(int(time.time())),
        },
    }
    with contextlib.suppress(OSError):
        write_private(path, json.dumps({"message": words}).encode())


def _print_error(error: BaseException) -> None:
    """The traceback without our own frames, as the script's author would see it."""
    trace = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    shown = error.with_traceback(trace or error.__traceback__)
    traceback.print_exception(type(shown), shown, shown.__traceback__)


def _is_ours(filename: str) -> bool:
    return filename == __file__ or "runpy" in filename


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
