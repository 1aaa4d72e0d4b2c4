"""The first state of a job that begins from weights or from a checkpoint of another job."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from phalanx.checkpoint import beginning, weights
from phalanx.checkpoint.manifest import PER_RANK
from phalanx.errors import CheckpointError, CheckpointUnreadable
from phalanx.names import Keys
from phalanx.plan.lineage import ALL, Origin, WeightsFile
from phalanx.store.store import Store
from phalanx.train.restoring import RANDOM, Checkpoint

_NESTED = ("state_dict", "model_state_dict", "model", "module")
"""Where scripts keep a module's tensors inside a larger file."""
_WRAPPERS = ("module.", "_orig_mod.", "_fsdp_wrapped_module.")


class Beginning:
    """What one rank takes from where its job began. `place` is (rank, number of ranks)."""

    def __init__(self, store: Store, keys: Keys, place: tuple[int, int]) -> None:
        """Raises `CheckpointUnreadable` when the job holds no beginning."""
        origin = beginning.read_origin(store, keys)
        if origin is None:
            raise CheckpointUnreadable(f"{keys.origin} is missing")
        self.origin: Origin = origin
        self._place = place
        self._checkpoint: Checkpoint | None = None
        if origin.checkpoint is not None:
            folder = beginning.held(keys, origin.checkpoint)
            self._checkpoint = Checkpoint(store, keys, origin.checkpoint, folder)

    def values(self, placements: Mapping[str, str], modules: Sequence[str]) -> dict[str, Any]:
        """Values by name: of all names when everything is taken, else of `modules`.

        Raises `CheckpointUnreadable`, and `CheckpointError` when something does not fit.
        """
        if self.origin.take == ALL and self._checkpoint is not None:
            return self._everything(self._checkpoint, placements)
        if not modules:
            raise CheckpointError(
                "init_from: the state holds no module that could take the weights",
                hint="put the model into the Checkpointer's state, or write take: all",
            )
        if self._checkpoint is not None:
            return self._of_checkpoint(self._checkpoint, modules)
        return self._of_files(modules)

    def _everything(self, checkpoint: Checkpoint, placements: Mapping[str, str]) -> dict[str, Any]:
        wanted = {name: _placement(checkpoint, name) for name in placements}
        same_ranks = checkpoint.manifest.world_size == self._place[1]
        if same_ranks and RANDOM in checkpoint.placements:
            wanted[RANDOM] = PER_RANK
        return checkpoint.values(wanted, *self._place)

    def _of_checkpoint(self, checkpoint: Checkpoint, modules: Sequence[str]) -> dict[str, Any]:
        wanted = {name: _placement(checkpoint, name) for name in modules}
        return checkpoint.values(wanted, *self._place)

    def _of_files(self, modules: Sequence[str]) -> dict[str, Any]:
        files = {file.name: file for file in self.origin.files}
        path = self.origin.weights or ""
        folder = os.path.dirname(path) if os.path.isfile(path) else path
        own = {name: f"{name}{weights.SAFE}" for name in modules}
        if all(name in files for name in own.values()):
            return {m: weights.tensors_of(folder, files[name]) for m, name in own.items()}
        if len(modules) > 1:
            raise CheckpointError(
                f"init_from: {path} holds one set of tensors, the state has the modules "
                f"{', '.join(modules)}",
                hint=f"name a folder with {' and '.join(own.values())}",
            )
        found: dict[str, Any] = {}
        for file in self.origin.files:
            tensors = _in_file(folder, file, modules[0])
            twice = sorted(found.keys() & tensors.keys())
            if twice:
                raise CheckpointError(
                    f"init_from: {path} holds {twice[0]!r} twice, the second in {file.name}",
                    hint="name the one file that is meant",
                )
            found.update(tensors)
        return {modules[0]: _unwrapped(found)}


def _in_file(folder: str, file: WeightsFile, name: str) -> dict[str, Any]:
    if file.name.endswith(weights.SAFE):
        return weights.tensors_of(folder, file)
    weights.unchanged(folder, file)
    return _of_torch(os.path.join(folder, file.name), name)


def _placement(checkpoint: Checkpoint, name: str) -> str:
    saved = checkpoint.placements
    if name not in saved:
        raise CheckpointError(
            f"init_from: checkpoint {checkpoint.name} holds no {name!r}",
            hint=f"it holds {', '.join(n for n in saved if n != RANDOM)}",
        )
    return saved[name]


def _of_torch(path: str, name: str) -> dict[str, Any]:
    """A module's tensors in a file of `torch.save`. Nothing in it is run."""
    import torch

    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch says in many ways what a file is not
        said = str(error).split("\n", 1)[0][:300]
        raise CheckpointError(
            f"init_from: {path} is not loaded, as it holds more than tensors: {said}",
            hint="save the module's state_dict() alone, or write SafeTensors",
        ) from error
    return _tensors(loaded, name, path)


def _tensors(loaded: Any, name: str, path: str) -> dict[str, Any]:
    import torch

    for _ in range(3):
        if not isinstance(loaded, Mapping):
            break
        if loaded and all(isinstance(value, torch.Tensor) for value in loaded.values()):
            return dict(loaded)
        keys = [key for key in ("state", name, *_NESTED) if isinstance(loaded.get(key), Mapping)]
        if not keys:
            break
        loaded = loaded[keys[0]]
    raise CheckpointError(
        f"init_from: {path} holds no tensors by name",
        hint="save the module's state_dict(), by itself or under 'state_dict' or 'model'",
    )


def _unwrapped(tensors: dict[str, Any]) -> dict[str, Any]:
    """Names without the prefix that a wrapper gave to all of them."""
    for wrapper in _WRAPPERS:
        if tensors and all(name.startswith(wrapper) for name in tensors):
            tensors = {name.removeprefix(wrapper): tensor for name, tensor in tensors.items()}
    return tensors
