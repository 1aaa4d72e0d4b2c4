"""Rules for what happens after a failure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from phalanx.spec.fields import Part, Truth, Whole, as_list, not_empty
from phalanx.spec.wrong import Wrong
from phalanx.words import FailureClass

FINAL = frozenset({FailureClass.NO_PROGRESS, FailureClass.STOPPED_BY_USER})
"""Ends by decision: no rule can restart after them."""


class Rule(Part):
    """The first rule that names the class of a failure decides."""

    on: Annotated[tuple[FailureClass, ...], BeforeValidator(as_list), AfterValidator(not_empty)] = (
        Field(
            description="Failure classes that this rule is for.", json_schema_extra={"minItems": 1}
        )
    )
    do: Literal["restart", "fail"] | None = Field(
        default=None, description="Start the next attempt, or end the job (default restart)."
    )
    limit: Whole | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Most restarts for these classes (default: no limit of its own).",
    )
    counted: Truth | None = Field(
        default=None, description="Whether such a restart counts as one (default true)."
    )

    @model_validator(mode="after")
    def _sensible(self) -> Rule:
        if self.do == "fail":
            for name in ("limit", "counted"):
                if getattr(self, name) is not None:
                    raise Wrong("{path} has no meaning with do: fail", "remove it", (name,))
            return self
        for index, failure in enumerate(self.on):
            if failure in FINAL:
                raise Wrong(f"nothing restarts after {failure.value}", "remove it", ("on", index))
            if failure is FailureClass.RESIZED:
                raise Wrong("Resized is no failure", "remove it", ("on", index))
        return self


def no_class_twice(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Refuses a class that an earlier rule already decides. Raises `Wrong`."""
    seen: dict[FailureClass, int] = {}
    for number, rule in enumerate(rules):
        for index, failure in enumerate(rule.on):
            if failure in seen:
                said = f"{failure.value} is decided by restart[{seen[failure]}] already"
                raise Wrong(said, "name each class once", (number, "on", index))
            seen[failure] = number
    return rules
