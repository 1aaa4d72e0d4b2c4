"""Values that a file does not say: unknown ones, references, and holes inside a text."""

from __future__ import annotations

from phalanx.frozen import frozen

HOLE = "\ue000"
"""Stands inside a text where an interpolation could not be resolved. It equals no real character,
so `==`, `in` and regular expressions simply do not match there."""


class Unknown:
    """Something is written here, but its value cannot be known. Truthy, equal to itself alone."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


@frozen
class Ref(Unknown):
    """A reference to another resource of the same stack or configuration.

    `address` is the logical id (CloudFormation) or the resource address (Terraform);
    `attribute` is what is read of it (`Arn`, `id`), or `Ref`.
    """

    address: str
    attribute: str = "Ref"


def is_known(value: object) -> bool:
    """False for unknown values and references."""
    return not isinstance(value, Unknown)


def readable(text: str) -> str:
    """The text with every hole shown as an ellipsis, for messages."""
    return text.replace(HOLE, "…")
