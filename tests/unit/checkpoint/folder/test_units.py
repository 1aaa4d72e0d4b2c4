"""What in a folder is one checkpoint, by its names."""

from __future__ import annotations

import pytest

from phalanx.checkpoint.folder.scan import Entry, Look
from phalanx.checkpoint.folder.units import Unit, links_in, number_of, pointers_in, units_in


def look(*names: str) -> Look:
    folders = {name[:at] for name in names for at, c in enumerate(name) if c == "/"}
    return Look(tuple(Entry(name, 100, 1) for name in sorted(names)), (), tuple(sorted(folders)))


def told(units: tuple[Unit, ...]) -> list[tuple[str, str, int | None, int]]:
    return sorted((unit.kind, unit.name, unit.number, len(unit.entries)) for unit in units)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("checkpoint-500", 500),
        ("epoch=3-step=400.ckpt", 400),
        ("global_step1000", 1000),
        ("iter_0000100", 100),
        ("ckpt_000020.pt", 20),
        ("epoch-7.pt", 7),
        ("00000100.pt", 100),
        ("checkpoint_3", 3),
        ("snapshot.pt", None),
        ("model_2.pt", None),
        ("rank_0.pt", None),
        ("resnet50.pt", None),
        ("version_0", None),
        ("model-00001-of-00002.safetensors", None),
        ("checkpoint.pth.tar", None),
        ("mistep3.pt", None),
    ],
)
def test_numbers(name: str, number: int | None) -> None:
    assert number_of(name) == number


def test_a_trainers_folders() -> None:
    names = [f"checkpoint-{n}/{f}" for n in (10, 20) for f in ("model.safetensors", "optimizer.pt")]
    units = units_in(look(*names, "trainer_state.json", "runs/events.out.tfevents.1"))
    assert told(units) == [
        ("huggingface", "checkpoint-10", 10, 2),
        ("huggingface", "checkpoint-20", 20, 2),
    ]


def test_lightning_keeps_its_files_deep_inside() -> None:
    names = ["lightning_logs/version_0/checkpoints/epoch=0-step=10.ckpt"]
    names += ["lightning_logs/version_0/checkpoints/last.ckpt", "lightning_logs/version_0/hp.yaml"]
    assert [unit[:3] for unit in told(units_in(look(*names)))] == [
        ("lightning", names[0], 10),
        ("lightning", names[1], None),
    ]


def test_files_of_one_step_go_together() -> None:
    units = units_in(look("step_5_model.pt", "step_5_optimizer.pt", "best.pt"))
    assert [unit[0] for unit in told(units)] == ["file", "files"]
    units = units_in(look("model.pt", "optimizer.pt"))
    assert told(units) == [("files", "*", None, 2)]


def test_folders_named_after_a_step() -> None:
    units = units_in(look("iter_0000100/mp_rank_00/model.pt", "iter_0000100/mp_rank_01/model.pt"))
    assert told(units) == [("folder", "iter_0000100", 100, 2)]
    assert told(units_in(look("run_1/checkpoint-5/model.safetensors"))) == [
        ("folder", "run_1/checkpoint-5", 5, 1)
    ]
    assert units_in(look("epoch_3/picture.png")) == ()


def test_dcp_in_a_folder_and_right_at_the_top() -> None:
    assert told(units_in(look("a/.metadata", "a/__0_0.distcp"))) == [("dcp", "a", None, 2)]
    assert told(units_in(look(".metadata", "__0_0.distcp", "log.txt", "x.pt"))) == [
        ("dcp", "", None, 2),
        ("file", "x.pt", None, 1),
    ]


def test_what_came_with_the_source_is_no_checkpoint() -> None:
    seen = look("data.pt", "checkpoint.pt")
    units = units_in(seen, frozenset(e for e in seen.files if e.name == "data.pt"))
    assert told(units) == [("file", "checkpoint.pt", None, 1)]


def test_equal_shapes_of_one_writer() -> None:
    first, second = units_in(look("checkpoint_1/m.bin", "checkpoint_1/random_states_0.pkl")), None
    second = units_in(look("checkpoint_12/m.bin", "checkpoint_12/random_states_0.pkl"))
    assert first[0].shape == second[0].shape
    third = units_in(look("checkpoint_13/m.bin"))
    assert third[0].shape != first[0].shape


def test_pointers_are_small_and_tell_of_checkpoints() -> None:
    seen = look("latest", "latest_checkpointed_iteration.txt", "config.json", "train.log", "x.pt")
    seen = Look((*seen.files, Entry("best.txt", 1 << 20, 1), Entry("checkpoint.pt.tmp", 9, 1)))
    found = pointers_in(seen, units_in(seen), frozenset())
    assert [entry.name for entry in found] == [
        "config.json",
        "latest",
        "latest_checkpointed_iteration.txt",
    ]


def test_links_that_leave_the_folder_are_left_alone() -> None:
    links = [("last.ckpt", "step=1.ckpt"), ("a/last", "../b"), ("c", "../d"), ("e", "/etc/passwd")]
    seen = Look((), tuple(Entry(name, 1, 1, target=target) for name, target in links))
    assert [link.name for link in links_in(seen)] == ["last.ckpt", "a/last"]
