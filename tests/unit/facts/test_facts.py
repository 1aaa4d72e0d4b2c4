"""The tables: rows, sources, doubt, and how they are made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from phalanx.cli.facts import command
from phalanx.errors import InputError, StoreUnavailable
from phalanx.facts.instances import all_instances, family, instance
from phalanx.facts.refresh import COLUMNS, row, table
from phalanx.facts.rows import rows, settled
from phalanx.facts.words import show_instance, show_row

ENTRY = {
    "InstanceType": "x9.large",
    "GpuInfo": {
        "Gpus": [
            {"Manufacturer": "NVIDIA", "Name": "Z1", "Count": 2, "MemoryInfo": {"SizeInMiB": 100}}
        ]
    },
    "VCpuInfo": {"DefaultVCpus": 8},
    "MemoryInfo": {"SizeInMiB": 4096},
    "NetworkInfo": {"EfaSupported": True, "EfaInfo": {"MaximumEfaInterfaces": 4}},
    "InstanceStorageInfo": {"Disks": [{"Count": 2, "SizeInGB": 900}]},
    "ProcessorInfo": {"SupportedArchitectures": ["arm64"]},
    "SupportedUsageClasses": ["spot"],
}


@pytest.mark.parametrize(
    ("name", "gpus", "neuron", "efa"),
    [
        ("p5.48xlarge", 8, 0, 32),
        ("p5en.48xlarge", 8, 0, 16),
        ("p4d.24xlarge", 8, 0, 4),
        ("g5.12xlarge", 4, 0, 1),
        ("g6f.large", 0, 0, 0),
        ("g4ad.xlarge", 0, 0, 0),
        ("trn1.32xlarge", 0, 16, 8),
        ("inf2.48xlarge", 0, 12, 0),
        ("c7i.large", 0, 0, 0),
    ],
)
def test_types_are_as_the_digest_says(name: str, gpus: int, neuron: int, efa: int) -> None:
    found = instance(name)
    assert found is not None
    assert (found.gpus, found.neuron_devices, found.efa) == (gpus, neuron, efa)


def test_a_fractional_type_says_so() -> None:
    found = instance("g6f.large")
    assert found is not None
    assert found.is_fractional
    assert found.share == 0.125
    assert instance("nothing.large") is None
    assert {row.name for row in family("p5")} == {"p5.4xlarge", "p5.48xlarge"}


def test_every_type_has_its_size() -> None:
    assert all(row.vcpus > 0 and row.memory_mib > 0 for row in all_instances())


def test_every_fact_has_a_page_a_day_and_an_id_of_the_digest() -> None:
    for fact in rows().values():
        assert fact.sources
        assert fact.fact
        assert fact.says
        assert all(s.url.startswith("https://") and s.verified for s in fact.sources)
        assert fact.mark in ("", "conflict", "unverified")
        assert not fact.mark or fact.note


def test_a_doubtful_fact_is_never_settled() -> None:
    assert settled("spot.notice-s") == 120
    doubtful = [fact.id for fact in rows().values() if fact.mark]
    assert doubtful
    for id in doubtful:
        with pytest.raises(KeyError, match="marked"):
            settled(id)


def test_an_answer_of_the_api_becomes_the_table() -> None:
    made = dict(zip(COLUMNS, row(ENTRY), strict=True))
    assert made["count"] == 2
    assert made["efa"] == 4
    assert made["architecture"] == "arm64"
    assert made["nvme_count"] == 2
    for answer in ({"InstanceTypes": [ENTRY]}, [ENTRY], {"x9.large": ENTRY}):
        assert list(table(answer, source="s", verified="d")["rows"]) == ["x9.large"]
    with pytest.raises(InputError):
        table({"InstanceTypes": []}, source="s", verified="d")


def test_shown_rows_carry_their_source_and_their_doubt() -> None:
    ((view, text),) = show_instance("trn2.48xlarge")
    assert "DescribeInstanceTypes" in text
    assert view["in_doubt"]
    assert len(show_row("capacity-block")) > 3
    assert show_row("nothing") == []


def test_the_verb_shows_and_refreshes(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        result = CliRunner().invoke(command, words, catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    shown = json.loads(run("show", "p5.48xlarge", "--json"))
    assert shown["schema"] == "phalanx.facts/1"
    assert shown["rows"][0]["efa"] == 32
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"InstanceTypes": [ENTRY]}))
    run("refresh", str(answer), "--to", str(tmp_path / "out.json"))
    assert list(json.loads((tmp_path / "out.json").read_text())["rows"]) == ["x9.large"]
    words = ["refresh", str(answer), "--to", str(answer / "out.json")]
    with pytest.raises(StoreUnavailable, match=r"answer\.json is no folder"):
        CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=False)
    with pytest.raises(InputError):
        CliRunner().invoke(command, ["show", "zzz"], catch_exceptions=False, standalone_mode=False)
