from __future__ import annotations

import pytest

from phalanx.backends.local.marks import (
    outside_environment,
    plain_environment,
    task_environment,
)

BODY = {
    "defaults": {"OMP_NUM_THREADS": "1"},
    "env": {"PHALANX_TASK": "t", "CUDA_VISIBLE_DEVICES": ""},
    "secrets": {"HF_TOKEN": "MY_TOKEN"},
}


def test_a_task_inherits_no_other_jobs_names() -> None:
    environ = {"PATH": "/bin", "RANK": "1", "PHALANX_TASK": "x", "TORCHELASTIC_RUN_ID": "r"}
    assert plain_environment(environ) == {"PATH": "/bin"}


def test_the_shell_overrides_defaults_and_the_body_overrides_the_shell() -> None:
    environ = {"OMP_NUM_THREADS": "8", "CUDA_VISIBLE_DEVICES": "5", "MY_TOKEN": "v"}
    assert task_environment(BODY, environ) == {
        "OMP_NUM_THREADS": "8",
        "CUDA_VISIBLE_DEVICES": "",
        "PHALANX_TASK": "t",
        "MY_TOKEN": "v",
        "HF_TOKEN": "v",
    }


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(KeyError, match="MY_TOKEN"):
        task_environment(BODY, {})


def test_a_controller_started_in_a_task_belongs_to_none_and_sees_all_gpus() -> None:
    inside = {"PHALANX_TASK": "t", "PHALANX_DEVICES": "0,1", "CUDA_VISIBLE_DEVICES": "1", "A": "b"}
    assert outside_environment(inside) == {
        "A": "b",
        "PHALANX_CONTROLLER": "1",
        "PHALANX_DEVICES": "0,1",
        "CUDA_VISIBLE_DEVICES": "0,1",
    }


def test_the_metadata_service_is_the_machines_so_every_task_knows_it() -> None:
    environ = {"PHALANX_METADATA": "http://127.0.0.1:1", "PHALANX_JOB": "other-1"}
    assert plain_environment(environ) == {"PHALANX_METADATA": "http://127.0.0.1:1"}
    assert outside_environment(environ)["PHALANX_METADATA"] == "http://127.0.0.1:1"
