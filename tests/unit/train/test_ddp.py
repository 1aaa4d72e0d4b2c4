"""Two ranks under DDP: killed, resumed, and bit-equal to the run that nobody disturbed."""

from __future__ import annotations

from pathlib import Path

from phalanx.checkpoint.find import names
from phalanx.checkpoint.manifest import PER_RANK, REPLICATED
from phalanx.checkpoint.shard import parse
from tests.support.saves import AgentDouble, Saves, environment
from tests.support.torch_processes import start
from tests.support.train_script import main as train

WORLD = 2


def run(saves: Saves, attempt: int, losses: Path, kill_at: int = 0, **more: str) -> list[int]:
    """One attempt of both ranks; when one dies the other is killed too, as an agent does."""
    saves.seal(attempt)
    told = {"WORLD_SIZE": str(WORLD), **more}
    with AgentDouble(saves, attempt, WORLD):
        ranks = [
            start(environment(saves, attempt, RANK=str(rank), **told), train, 14, losses, kill_at)
            for rank in range(WORLD)
        ]
        ranks[0].join()
        if ranks[0].exitcode:
            ranks[1].kill()
        ranks[1].join()
        return [process.exitcode or 0 for process in ranks]


def lines(losses: Path, rank: int) -> dict[str, list[str]]:
    """What a rank printed last of every step."""
    text = Path(f"{losses}.{rank}").read_text()
    return {step: rest for step, *rest in map(str.split, text.splitlines())}


def test_a_killed_run_ends_with_the_losses_of_an_undisturbed_one(tmp_path: Path) -> None:
    by_steps = {"PHALANX_SAVE_EVERY": "4steps", "PHALANX_TOTAL_STEPS": "14"}
    by_time = {**by_steps, "PHALANX_SAVE_EVERY": "0.001s"}
    (tmp_path / "calm").mkdir()
    calm, calm_losses = Saves(tmp_path / "calm"), tmp_path / "calm" / "losses"
    assert run(calm, 0, calm_losses, **by_steps) == [0, 0]

    saves, losses = Saves(tmp_path), tmp_path / "losses"
    assert run(saves, 0, losses, kill_at=11, **by_time)[0] == -9
    assert run(saves, 1, losses, **by_steps) == [0, 0]
    for rank in range(WORLD):
        assert len(lines(losses, rank)) == 14
        assert lines(losses, rank) == lines(calm_losses, rank)
    assert names(saves.store, saves.keys)[0] == "0000000014-1"
    manifest = saves.manifest("0000000014-1")
    layouts = [{piece.name: piece.placement for piece in p.layout} for p in manifest.parts]
    own = {"sampler": PER_RANK, "phalanx.random": PER_RANK}
    shared = dict.fromkeys(("model", "optimizer", "scheduler"), REPLICATED)
    assert layouts == [{**shared, **own}, own]
    data = saves.path(manifest.name, manifest.parts[0].shards[0].name).read_bytes()
    assert "model.0.weight" in parse(memoryview(data), "").names, "the wrapper's name is in it"
