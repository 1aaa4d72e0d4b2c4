"""Whatever a state holds: its plain form tells it again, to the last bit."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from hypothesis import given, settings

from phalanx.checkpoint import shard
from phalanx.checkpoint.hostcopy import HostCopy
from phalanx.checkpoint.plain import plain
from phalanx.checkpoint.torch_file import write
from phalanx.checkpoint.untree import decode
from tests.properties.test_checkpoint import STATES, same
from tests.support.plainly import tagged


def opened(state: Any) -> shard.Shard:
    copy = HostCopy()
    taken = copy.take(state, {})
    return shard.parse(memoryview(taken.header + bytes(taken.data)), "file")


@settings(deadline=None)
@given(STATES)
def test_the_plain_form_of_any_state_is_that_state(state: Any) -> None:
    parsed = opened(state)
    made = plain(parsed.tree(), parsed)
    placed = shard.arrange(made.entries)
    body = b"".join(bytes(item.entry.source()) for item in placed)
    again = shard.parse(memoryview(shard.header(placed, {"format": "pt"}) + body), "plain")
    value = json.loads(json.dumps(made.value, allow_nan=False))
    assert same(decode(tagged(value), again.bytes), state)


class OneRank:
    """What the writer of a torch file asks of a checkpoint."""

    def __init__(self, state: Any) -> None:
        parsed = opened({"x": state})
        self.names = [("x", 1)]
        self.ranks = [(parsed, parsed.tree()["dict"])]


@settings(deadline=None, max_examples=50)
@given(STATES)
def test_torch_takes_any_state_without_trusting_it(state: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "checkpoint.pt")
        write(str(path), {"step": 1}, OneRank(state))  # type: ignore[arg-type]
        loaded = torch.load(path, weights_only=True)
    assert loaded["step"] == 1
    assert set(loaded["state"]) == {"x"}
