"""A framework's own files come out as it wrote them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from phalanx.checkpoint.restore import FORMATS, Source, restore
from phalanx.errors import InputError
from tests.support.watched_folder import WatchedFolder
from tests.support.watched_writers import trainer


def test_the_files_of_a_watched_folder_are_written_as_they_were(tmp_path: Path) -> None:
    folder = WatchedFolder(tmp_path)
    folder.put(trainer(20, ""))
    name = folder.settle().committed
    source, to = Source(folder.keys.job, name), tmp_path / "plain"
    told: list[tuple[int, int]] = []
    done = restore(
        folder.store, source, str(to), FORMATS[:1], lambda now, total: told.append((now, total))
    )
    about = json.loads((to / "phalanx.json").read_text())
    assert (about["step"], about["weights"], about["values"]) == (20, [], {})
    assert folder.there() == {
        file: (to / file).read_bytes() for file in done.files if file != "phalanx.json"
    }
    assert told[-1][0] == told[-1][1] > 0
    with pytest.raises(InputError, match="as a framework wrote them"):
        restore(folder.store, source, str(tmp_path / "other"), ("torch",))
    assert "other" not in " ".join(os.listdir(tmp_path))
