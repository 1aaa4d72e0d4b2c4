"""What can be known to be wrong before a job exists: its command, against its source and PATH."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches

from phalanx.agent.command import python_script
from phalanx.errors import InputError
from phalanx.plan.job import JobPlan


def check_command(plan: JobPlan, environ: Mapping[str, str]) -> tuple[int, InputError] | None:
    """(index into `command`, what is wrong), or None when the command can be started.

    `plan.source` is the absolute folder that is shipped; without one nothing relative exists.
    """
    if plan.source is not None and not os.path.isdir(plan.source):
        return -2, InputError(f"source: there is no folder {plan.source}", hint="write source: .")
    folder = _working_folder(plan)
    if folder is not None and not os.path.isdir(folder):
        said = f"working_directory: {plan.working_directory!r} is not a folder of the source"
        return -1, InputError(said, hint=f"the source is {plan.source}")
    program = plan.command[0]
    if not _is_program(program, folder, plan, environ):
        return 0, InputError(
            f"command: the program {program!r} is not to be found", hint=_program_hint(program)
        )
    script = python_script(plan.command)
    if script is None or script.is_module or folder is None:
        return None
    if os.path.isfile(os.path.join(folder, script.target)):
        return None
    near = get_close_matches(script.target, os.listdir(folder), 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the source is {folder}"
    index = plan.command.index(script.target)
    return index, InputError(f"command: there is no file {script.target!r}", hint=hint)


def check_receivers(plan: JobPlan, environ: Mapping[str, str]) -> tuple[int, InputError] | None:
    """(index into `notify`, what is wrong), or None when every program of it can be started.

    They start in the source folder, where the job file mostly lies.
    """
    for number, receiver in enumerate(plan.notify):
        program = receiver.words[0]
        if receiver.kind == "command" and not _is_program(program, plan.source, plan, environ):
            said = f"notify[{number}].command: the program {program!r} is not to be found"
            return number, InputError(said, hint=_program_hint(program))
    return None


def _working_folder(plan: JobPlan) -> str | None:
    if plan.source is None:
        return None
    return os.path.normpath(os.path.join(plan.source, plan.working_directory))


def _is_program(
    program: str, folder: str | None, plan: JobPlan, environ: Mapping[str, str]
) -> bool:
    import shutil

    if os.sep in program:
        path = program if os.path.isabs(program) else os.path.join(folder or os.sep, program)
        return os.path.isfile(path) and os.access(path, os.X_OK)
    inherited = dict(plan.env).get("PATH") or environ.get("PATH", os.defpath)
    path = os.pathsep.join([os.path.dirname(sys.executable), inherited])
    return shutil.which(program, path=path) is not None


def _program_hint(program: str) -> str:
    if os.sep in program:
        return "is it in the source, and executable?"
    near = get_close_matches(program, ("python", "python3", "torchrun", "bash", "sh"), 1)
    return f"did you mean {near[0]!r}?" if near and near[0] != program else "is it on PATH?"
