"""A block of the long fuzzing (`make soak`): every kind of file, damaged."""

import pytest

from tests.support import fuzz


def test_there_are_files_of_every_kind():
    verbs = {kind.split()[0] for kind in fuzz.corpus()}
    ends = {kind.split()[1] for kind in fuzz.corpus()}
    assert verbs == {"lint", "explain", "plan"}
    assert {"taskdef.json", "batchjob.json", "cfn.yaml", "tf", "events.json", "ckpt.json"} <= ends


@pytest.mark.parametrize("seed", [100_000, 200_000])
def test_damaged_files_get_an_answer_or_one_line(tmp_path, seed):
    fuzz.fuzzed(seed, tmp_path / "files")
