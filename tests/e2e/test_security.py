"""Secrets stay out of the root, others stay out of our files, and altered sources are not run."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from phalanx.agent.seat import scratch_base
from phalanx.app.submit import submit
from phalanx.cli.main import call
from tests.support.gang import Gang, all_pids, cmdline
from tests.support.waiting import until

LEAKS = Path(__file__).parents[1] / "support" / "leaks.py"
TOKEN = "zebra-Quagga%/77 okapi"
PASSWORD = "inherited-Gnu-4711"
SHAPED = "hf_" + "Tapir5" * 6
PLANTED = "planted-in-a-file-1234567890"
SECRETS = (TOKEN, PASSWORD, SHAPED, PLANTED)
WARM = "import os\nprint('at import:', os.environ['MY_TOKEN'], flush=True)\n"
EXTRA = (
    "secrets: {MY_TOKEN: {env: THEIR_TOKEN}}\n"
    f'env: {{SHAPED: "{SHAPED[:5]}~{SHAPED[5:]}"}}\n'
    "warm: [noisy, nomodule]\n"
    "restart: [{on: [NonZeroExit], do: fail}]\n"
)


@pytest.fixture
def leaking(new_gang, tmp_path, monkeypatch) -> Iterator[Gang]:
    """A job that gives everything away, in the shell of somebody whose umask hides nothing."""
    monkeypatch.setenv("THEIR_TOKEN", TOKEN)
    monkeypatch.setenv("TEAM_PASSWORD", PASSWORD)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    before = os.umask(0)
    yield new_gang(nodes=1, script=LEAKS, command=["python", "train.py"], extra=EXTRA)
    os.umask(before)


def test_planted_secrets_appear_nowhere(leaking: Gang) -> None:
    gang = leaking
    (gang.source / ".env").write_text(f"DB_PASSWORD={PLANTED}\n")
    (gang.source / "noisy.py").write_text(WARM)

    done = gang.run("run", str(gang.file), "--detach")
    assert done.returncode == 0, done.stderr
    gang.job = done.stdout.strip()
    assert "not shipped, for they hold secrets: .env (an environment file)" in done.stderr
    until(gang.object("files/ready").exists)
    assert [pid for pid in all_pids() if any(secret in cmdline(pid) for secret in SECRETS)] == []
    scratch = Path(scratch_base(os.environ))
    assert any(path.is_socket() for path in scratch.rglob("*"))
    assert open_to_others(scratch) == []
    gang.object("files/go").touch()
    assert gang.wait()["phase"] == "Failed"

    said = everything_said(gang)
    for secret in SECRETS:
        assert [path for path in files_below(gang.root) if secret.encode() in contents(path)] == []
        assert secret not in said
        assert secret not in done.stderr
    logs = gang.run("logs", gang.job).stdout
    assert "split: [redacted MY_TOKEN] was split" in logs
    assert "no end: [redacted MY_TOKEN]" in logs
    assert "@host/path useful words stay" in logs
    told = "phalanx: warm: nomodule cannot be imported: No module named 'nomodule'"
    assert logs.count(told) == 1
    agent_log = next(gang.root.rglob("agent.log")).read_text()
    assert "at import: [redacted MY_TOKEN]" in agent_log
    verdict = gang.status()["verdict"]
    assert "refused with [redacted MY_TOKEN] and [redacted" in verdict["evidence"]
    assert open_to_others(gang.root) == []


def test_a_secret_in_the_job_file_or_on_the_command_line_is_refused(leaking: Gang) -> None:
    lines = [
        leaking.refused(2, "run", str(leaking.file), "--set", f"env.X={SHAPED}"),
        leaking.refused(2, "run", str(leaking.file), "--set", f"command[2]=--x={TOKEN}"),
        leaking.refused(
            2, "run", str(leaking.file), "--set", "command=[python, -p, --password, pw77]"
        ),
    ]
    for line in lines:
        assert "would stand in the job's record" in line
        assert [secret for secret in (*SECRETS, "pw77") if secret in line] == []
    assert not (leaking.root / "jobs").exists()


def test_an_altered_source_is_not_run(counting) -> None:
    gang = counting(nodes=1)
    submitted = submit(str(gang.file), root=str(gang.root), ensure=lambda root, job: None)
    gang.job = submitted.job
    (blob,) = (gang.root / "snapshots").iterdir()
    data = bytearray(blob.read_bytes())
    data[data.index(b"import")] ^= 1
    blob.chmod(0o600)
    blob.write_bytes(data)

    status = gang.wait()
    assert status["phase"] == "Failed"
    assert status["verdict"]["class"] == "SourceDamaged"
    assert "its digest is wrong" in status["verdict"]["message"]
    assert len(status["history"]) == 1
    assert not gang.object("source").exists()
    assert not gang.object("files").exists()
    assert "run the job file again" in gang.why()["next"]["action"]


def everything_said(gang: Gang) -> str:
    """Answers of all verbs that read a job, as people and as programs get them."""
    verbs = ["status", "why", "logs", "ledger", "checkpoints", "wait", "stop"]
    words = [[verb, gang.job] for verb in verbs] + [["ps"]]
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        for word in words:
            for form in ((), ("--json",)):
                call([*word, *form, "--root", str(gang.root)])
    return said.getvalue()


def files_below(folder: Path) -> list[Path]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    assert len(found) > 10
    return found


def contents(path: Path) -> bytes:
    return path.read_bytes()


def open_to_others(folder: Path) -> list[Path]:
    """What others may use, but for what the script itself wrote below a closed folder."""
    own = ("/files/", "/__pycache__")
    found = [folder, *folder.rglob("*")]
    theirs = [path for path in found if not any(part in str(path) for part in own)]
    return [path for path in theirs if not path.is_symlink() and path.stat().st_mode & 0o077]
