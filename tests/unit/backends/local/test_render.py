from __future__ import annotations

import json
from dataclasses import replace

from phalanx.backends.local.render import Host, render, slot_address, slot_devices
from phalanx.plan.job import JobPlan, Secret
from phalanx.state.record import Seat

HOST = Host(root="/roots/a", python="/usr/bin/python3", gpus=("0", "1", "2", "3"))
PLAN = JobPlan(name="demo", command=("python", "train.py"), nodes=2)


def body(plan: JobPlan, slot: int = 0, host: Host = HOST) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(render(host, "demo-1", plan, Seat(slot)).body)
    return found


def test_the_whole_request() -> None:
    request = render(HOST, "demo-1", replace(PLAN, gpus_per_node=2), Seat(1, 2, 3, launched_ns=9))
    assert json.loads(request.body) == {
        "argv": ["/usr/bin/python3", "-m", "phalanx.backends.local.claim", "-m", "phalanx.agent"],
        "cwd": "/",
        "defaults": {"OMP_NUM_THREADS": "1"},
        "devices": ["2", "3"],
        "env": {
            "CUDA_VISIBLE_DEVICES": "2,3",
            "PHALANX_ADDRESS": "127.77.0.3",
            "PHALANX_DEVICES": "0,1,2,3",
            "PHALANX_INCARNATION": "2",
            "PHALANX_JOB": "demo-1",
            "PHALANX_ROOT": "/roots/a",
            "PHALANX_SLOT": "1",
            "PHALANX_TASK": request.token,
            "PHALANX_TRIES": "3",
        },
        "gpus": 2,
        "secrets": {},
        "sources": [],
    }


def test_the_body_is_canonical_json() -> None:
    text = render(HOST, "demo-1", PLAN, Seat(0)).body
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


def test_when_a_launch_was_intended_changes_nothing() -> None:
    first = render(HOST, "demo-1", PLAN, Seat(0, launched_ns=1))
    assert first == render(HOST, "demo-1", PLAN, Seat(0, launched_ns=2, seen_alive=True))


def test_a_cpu_slot_sees_no_gpu() -> None:
    assert body(PLAN)["env"]["CUDA_VISIBLE_DEVICES"] == ""


def test_slots_share_no_gpu() -> None:
    given = [slot_devices(HOST.gpus, slot, 2) for slot in range(3)]
    assert given == [("0", "1"), ("2", "3"), ()]


def test_every_slot_has_an_address_of_its_own() -> None:
    addresses = [slot_address(slot) for slot in range(1000)]
    assert len(set(addresses)) == 1000
    assert addresses[0] == "127.77.0.2"
    parts = [int(part) for address in addresses for part in address.split(".")]
    assert all(0 <= part < 255 for part in parts)


def test_without_a_loopback_net_all_slots_share_one_address() -> None:
    host = replace(HOST, has_loopback_net=False)
    assert body(PLAN, 1, host)["env"]["PHALANX_ADDRESS"] == "127.0.0.1"


def test_secrets_are_references() -> None:
    plan = replace(PLAN, secrets=(Secret("HF_TOKEN", "env", "MY_TOKEN"),))
    assert body(plan)["secrets"] == {"HF_TOKEN": "MY_TOKEN"}


def test_the_users_environment_is_left_to_the_ranks() -> None:
    plan = replace(PLAN, env=(("LOG_LEVEL", "info"), ("OMP_NUM_THREADS", "4")))
    assert "LOG_LEVEL" not in body(plan)["env"]
    assert body(plan)["defaults"] == {}
