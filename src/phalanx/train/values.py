"""What may stand in the state: how each kind of value is read out, and put back in place.

A value is put back *into the object the script holds*: modules, optimizers and everything with
`load_state_dict` load it, arrays, tensors, dicts, lists and sets are filled in place. Only a value
that cannot change (a number, a string, a tuple) is replaced in the state dict itself.
"""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Collection, Mapping
from typing import Any

from phalanx.checkpoint.manifest import PER_RANK, REPLICATED
from phalanx.checkpoint.tree import encode
from phalanx.errors import CheckpointError, StateUnsupported

_FIXED = (type(None), bool, int, float, complex, str, bytes, tuple, frozenset)
_FILLED = (dict, list, set, bytearray, deque)


def unwrapped(value: Any) -> Any:
    """The script's own module inside DDP or a compiled module, so that names do not change."""
    torch = sys.modules.get("torch")
    if torch is None:
        return value
    wrappers: list[Any] = [torch.nn.DataParallel]
    parallel = sys.modules.get("torch.nn.parallel.distributed")
    if parallel is not None:
        wrappers.append(parallel.DistributedDataParallel)
    inside = tuple(wrappers)
    while True:
        if isinstance(value, inside):
            value = getattr(value, "module")  # noqa: B009
        elif isinstance(value, torch.nn.Module) and "_orig_mod" in value._modules:
            value = value._orig_mod
        else:
            return value


def is_module(value: Any) -> bool:
    """Whether a value is a torch module, wrapped or not."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(unwrapped(value), torch.nn.Module)


def takes_weights(value: Any) -> bool:
    """Whether a value is a module, or stands for one that a framework makes later."""
    return is_module(value) or bool(getattr(value, "phalanx_weights", False))


def placement(name: str, value: Any, per_rank: Collection[str], replicated: Collection[str]) -> str:
    """Whether rank 0 alone writes a value, or every rank its own.

    Modules, optimizers, schedulers, scalers and tensors are equal on all ranks; everything else
    may be this rank's own place in the data, so every rank writes it.
    """
    if name in per_rank:
        return PER_RANK
    if name in replicated:
        return REPLICATED
    torch = sys.modules.get("torch")
    if torch is None or getattr(value, "phalanx_per_rank", False):
        return PER_RANK
    kinds = (
        torch.nn.Module,
        torch.optim.Optimizer,
        torch.optim.lr_scheduler.LRScheduler,
        torch.amp.GradScaler,
        torch.Tensor,
    )
    return REPLICATED if isinstance(unwrapped(value), kinds) else PER_RANK


def check(name: str, value: Any) -> None:
    """Raises `StateUnsupported` when a value can be neither read out nor put back."""
    if _has_state_dict(value) or _generator(value) or isinstance(value, (*_FIXED, *_FILLED)):
        return
    if _is_array(value):
        return
    raise StateUnsupported(
        f"state[{name!r}] holds a {type(value).__module__}.{type(value).__qualname__}",
        hint="give it state_dict() and load_state_dict(), or save plain values, arrays or tensors",
    )


def collect(value: Any) -> Any:
    """The plain state of a value; tensors in it are the live ones."""
    value = unwrapped(value)
    if _has_state_dict(value):
        return value.state_dict()
    kind = _generator(value)
    if kind == "torch":
        return value.get_state()
    if kind == "numpy":
        return value.bit_generator.state
    if kind == "python":
        return value.getstate()
    return value


def put_back(state: dict[str, Any], name: str, saved: Any) -> None:
    """Bring `state[name]` to what was saved.

    Raises `CheckpointError` when it does not fit: another shape, type or structure.
    """
    value = unwrapped(state[name])
    where = f"state[{name!r}]"
    try:
        if _has_state_dict(value):
            saved = with_tied(value, saved)
            _fits_module(value, saved, where)
            value.load_state_dict(saved)
        elif _generator(value):
            _set_generator(value, saved)
        elif _is_array(value):
            _fill_array(value, saved, where)
        elif isinstance(value, _FILLED):
            _fill(value, saved, where)
        else:
            state[name] = saved
    except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"{where} ({type(value).__name__}) does not take what was saved: {error}"
        ) from error


def _has_state_dict(value: Any) -> bool:
    reads = callable(getattr(value, "state_dict", None))
    return reads and callable(getattr(value, "load_state_dict", None))


def _generator(value: Any) -> str:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy.random")
    if torch is not None and isinstance(value, torch.Generator):
        return "torch"
    if numpy is not None and isinstance(value, numpy.Generator):
        return "numpy"
    return "python" if isinstance(value, random.Random) else ""


def _set_generator(value: Any, saved: Any) -> None:
    kind = _generator(value)
    if kind == "torch":
        value.set_state(saved)
    elif kind == "numpy":
        value.bit_generator.state = saved
    else:
        value.setstate(saved)


def _is_array(value: Any) -> bool:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        return True
    return numpy is not None and isinstance(value, numpy.ndarray)


def _fill_array(value: Any, saved: Any, where: str) -> None:
    here, there = (tuple(value.shape), value.dtype), (tuple(saved.shape), saved.dtype)
    if here != there:
        raise CheckpointError(f"{where} has shape and type {here} here but {there} when saved")
    if hasattr(value, "copy_"):
        with sys.modules["torch"].no_grad():
            value.copy_(saved)
    else:
        value[...] = saved


def _fill(value: Any, saved: Any, where: str) -> None:
    if type(value) is not type(saved) and not (isinstance(value, dict) and isinstance(saved, dict)):
        raise CheckpointError(
            f"{where} is a {type(value).__name__} here but was a {type(saved).__name__}"
        )
    value.clear()
    if isinstance(value, (dict, set)):
        value.update(saved)
    else:
        value.extend(saved)


def with_tied(value: Any, saved: Any) -> Any:
    """`saved` with every name of the module's tied tensors: files of weights name them once."""
    if not is_module(value) or not isinstance(saved, Mapping):
        return saved
    here: Mapping[str, Any] = value.state_dict()
    missing = [key for key in here if key not in saved and hasattr(here[key], "data_ptr")]
    if not missing:
        return saved
    there = {_geometry(here[key]): saved[key] for key in here if key in saved}
    tied = {key: there[_geometry(here[key])] for key in missing if _geometry(here[key]) in there}
    return {**saved, **tied}


def _geometry(value: Any) -> Any:
    """Equal for two tensors that are one; another value is like itself only."""
    if not hasattr(value, "data_ptr") or not value.numel():
        return id(value)
    return value.data_ptr(), tuple(value.shape), value.stride(), value.dtype


def _fits_module(value: Any, saved: Any, where: str) -> None:
    """One sentence for what torch tells in many lines."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.nn.Module):
        return
    here: Mapping[str, Any] = value.state_dict()
    wrong = [f"{key!r} is missing from the checkpoint" for key in here if key not in saved]
    wrong += [f"{key!r} is not in this model" for key in saved if key not in here]
    wrong += [
        f"{key!r} has shape {tuple(here[key].shape)} here but {tuple(saved[key].shape)} when saved"
        for key in here
        if key in saved and _shape(here[key]) != _shape(saved[key])
    ]
    if wrong:
        more = f" and {len(wrong) - 1} more differ" if len(wrong) > 1 else ""
        raise CheckpointError(
            f"{where}: {wrong[0]}{more}", hint="resume with the model that was saved"
        )


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(getattr(value, "shape", ()))


def written_by(rank: int, placements: Mapping[str, str]) -> list[str]:
    """Names of the values that one rank writes: rank 0 all, the others their own."""
    return [name for name, where in placements.items() if rank == 0 or where == PER_RANK]


def try_out(state: Mapping[str, Any]) -> None:
    """Take the state apart once without copying it, so that a save cannot fail hours later.

    Loaders are left out: reading their state may start them. Raises `StateUnsupported`.
    """
    loaders = sys.modules.get("torch.utils.data")
    plain = {
        name: collect(value)
        for name, value in state.items()
        if loaders is None or not isinstance(value, loaders.DataLoader)
    }
    encode(plain)
