"""Element types: torch's names, SafeTensors' codes, sizes in bytes.

Types without a code that every SafeTensors reader knows travel as bytes (`U8`, with the element's
size as the last dimension); the checkpoint's own tree keeps their true name.
"""

from __future__ import annotations

CODES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "float16": "F16",
    "bfloat16": "BF16",
    "uint32": "U32",
    "int32": "I32",
    "float32": "F32",
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
}
"""Element types with a SafeTensors code, by torch's (and numpy's) name."""

SIZES = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "U16": 2,
    "I16": 2,
    "F16": 2,
    "BF16": 2,
    "U32": 4,
    "I32": 4,
    "F32": 4,
    "U64": 8,
    "I64": 8,
    "F64": 8,
}
"""Bytes of one element, by SafeTensors code."""

RAW = {
    "complex32": 4,
    "complex64": 8,
    "complex128": 16,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1,
}
"""Bytes of one element of the torch types that travel as bytes."""


def item_size(name: str) -> int | None:
    """Bytes of one element of a torch type; None for a type that no checkpoint carries."""
    code = CODES.get(name)
    return SIZES[code] if code else RAW.get(name)


def stored_as(name: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """The SafeTensors code and shape under which a tensor of this type and shape is written."""
    code = CODES.get(name)
    return (code, shape) if code else ("U8", (*shape, RAW[name]))


def count(shape: tuple[int, ...]) -> int:
    """Number of elements."""
    total = 1
    for size in shape:
        total *= size
    return total
