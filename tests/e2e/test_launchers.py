"""Launchers `torchrun` and `none`, each with a kill; and the port that `MASTER_PORT` names."""

from __future__ import annotations

import signal
import socket

from tests.support.gang import kill
from tests.support.waiting import until


def test_torchrun(new_gang):
    gang = new_gang(nodes=2, ranks=1, steps=60, step_s=0.05, extra="launcher: torchrun\n").start()
    gang.reach(12)
    kill(gang.rank_pid(1))
    status = gang.wait(180)
    assert status["phase"] == "Succeeded", status
    assert status["attempt"] == 1
    assert status["history"][0]["resumed_from_step"] >= 5
    assert gang.causes() == [("Killed", 1, 1)]
    assert "SIGKILL" in status["history"][0]["first_cause"]["message"]
    for rank in (0, 1):  # steps that were done twice had the same loss both times
        assert sorted(gang.losses(rank)) == list(range(60))
        assert len(gang.lines(rank)) > 60
    gang.assert_nothing_lives()


def test_none_runs_one_shell_command_a_slot(counting, tmp_path):
    words = (
        f"echo $$ > {tmp_path}/pid.$RANK.$PHALANX_ATTEMPT; "
        f"until [ -e {tmp_path}/gate ]; do sleep 0.05; done; echo $RANK of $WORLD_SIZE"
    )
    gang = counting(command=["sh", "-c", words], extra="launcher: none\n").start()
    pids = [tmp_path / f"pid.{rank}.0" for rank in (0, 1)]
    until(lambda: all(path.exists() and path.read_text().strip() for path in pids))
    kill(int(pids[1].read_text()))
    again = tmp_path / "pid.0.1"
    until(lambda: again.exists() and again.read_text().strip())
    (tmp_path / "gate").touch()
    assert gang.wait()["phase"] == "Succeeded"
    assert gang.causes() == [("Killed", 1, 1)]
    assert "1 of 2" in gang.run("logs", gang.job).stdout
    gang.assert_nothing_lives()


def test_a_stopped_process_below_a_launcher_is_found(counting, tmp_path):
    pid = tmp_path / "pid"
    words = f"sleep 999 & echo $! > {pid}.new; mv {pid}.new {pid}; wait"
    more = "launcher: none\nrestart: [{on: [Hang], do: fail}]\n"
    gang = counting(command=["sh", "-c", words], extra=more, nodes=1).start()
    until(pid.exists)
    kill(int(pid.read_text()), signal.SIGSTOP)
    assert gang.wait()["phase"] == "Failed"
    assert gang.causes() == [("Hang", 0, 0)]
    assert "a process below rank 0" in str(gang.why()["first_cause"])
    gang.assert_nothing_lives()


def test_a_port_that_a_stranger_has_taken(counting, tmp_path):
    """The first attempt's port is taken by us before rank 0 binds it; the next one gets another."""
    words = (
        "import os, socket, sys, time\n"
        "place = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))\n"
        f"note = {str(tmp_path / 'place')!r}\n"
        "if os.environ['RANK'] == '1': sys.exit(0)\n"
        "if os.environ['PHALANX_ATTEMPT'] == '0':\n"
        "    open(note + '.tmp', 'w').write('%s %d' % place); os.rename(note + '.tmp', note)\n"
        "    while not os.path.exists(note + '.taken'): time.sleep(0.01)\n"
        "server = socket.socket(); server.bind(place)\n"
    )
    gang = counting(command=["env", "python", "-c", words], extra="launcher: none\n").start()
    note = tmp_path / "place"
    until(note.exists)
    address, port = note.read_text().split()
    with socket.socket() as stranger:
        stranger.bind((address, int(port)))
        (tmp_path / "place.taken").touch()
        assert gang.wait()["phase"] == "Succeeded"
    status = gang.status()
    assert status["attempt"] == 1
    first = status["history"][0]["first_cause"]
    assert (first["slot"], first["rank"]) == (0, 0)
    assert "Address already in use" in first["evidence"]


def test_none_gets_sigterm_on_stop(counting, tmp_path):
    bye, up = f"{tmp_path}/bye.$RANK", f"{tmp_path}/up.$RANK"
    words = f"trap 'echo bye > {bye}; exit 0' TERM; touch {up}; sleep 999 & wait"
    gang = counting(command=["sh", "-c", words], extra="launcher: none\n").start()
    until(lambda: all((tmp_path / f"up.{rank}").exists() for rank in (0, 1)))
    assert gang.call("stop", gang.job)["phase"] == "Stopped"
    assert all((tmp_path / f"bye.{rank}").exists() for rank in (0, 1))
    gang.assert_nothing_lives()
