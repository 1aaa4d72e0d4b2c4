"""A plan as a page of Markdown that can be pasted into a design review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from phalanx.plan.decisions.decision import Source
from phalanx.plan.design import Design
from phalanx.plan.parallelism import Fit
from phalanx.plan.view import capacity, steps, view

GIB = 1024.0**3


def page(made: Design) -> str:
    """The page; it ends with a line break."""
    notes = Notes()
    parts = [
        _head(made),
        _findings(made, notes),
        *(_decision(decision, notes) for decision in made.decisions),
        _parallelism(made, notes),
        _capacity(made),
        _checkpoint(made, notes),
        _advice("Storage", made.storage, notes),
        _security(made, notes),
        _advice("Observability", made.observability, notes),
        _cost(made, notes),
        _levers(made, notes),
        _guardrails(made),
        _assumptions(made),
    ]
    body = "\n\n".join("\n".join(part) for lines in parts if (part := list(lines)))
    return f"{body}\n\n## Sources\n\n{notes.text()}\n"


class Notes:
    """Numbers for sources, in the order in which they are quoted."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, Source]] = {}

    def quote(self, sources: Sequence[Source]) -> str:
        """`[1][4]`."""
        return "".join(f"[{self._number(source)}]" for source in sources)

    def _number(self, source: Source) -> int:
        return self._found.setdefault(source.url, (len(self._found) + 1, source))[0]

    def text(self) -> str:
        """The list of sources; a doubtful fact says so."""
        lines = []
        for number, source in self._found.values():
            mark = f", {source.mark}" if source.mark else ""
            lines.append(f"{number}. {source.url} ({source.verified}{mark}; {source.fact})")
        return "\n".join(lines)


def _head(made: Design) -> Iterator[str]:
    yield f"# Plan: {made.workload.name} ({made.workload.use})"
    if made.route:
        yield ""
        yield f"**Better off elsewhere: {made.route.to}.** {' '.join(made.route.because)}"
        if made.chosen.host != "none":
            yield ""
            yield "The decisions D1 to D4 say what it would be on ECS all the same."
    yield ""
    yield from (f"- {d.id} {d.question} **{d.choice}**" for d in made.decisions)


def _findings(made: Design, notes: Notes) -> Iterator[str]:
    if not made.findings:
        return
    yield "## To act on"
    yield ""
    for found in made.findings:
        yield (
            f"- **{found.severity}** `{found.where}`: {found.message} Fix: {found.fix}. "
            f"{notes.quote(found.sources)}"
        )


def _decision(decision: Any, notes: Notes) -> Iterator[str]:
    yield f"## {decision.id}: {decision.choice}"
    yield ""
    yield decision.question
    yield ""
    yield from (f"- {reason}" for reason in decision.reasons)
    yield ""
    yield "Rejected:"
    yield from (f"- {other.choice}: {other.because}." for other in decision.rejected)
    yield ""
    yield f"Would change if: {'; '.join(decision.would_change_if)}."
    yield f"Sources: {notes.quote(decision.sources)}"


def _parallelism(made: Design, notes: Notes) -> Iterator[str]:
    sized = made.sized
    if not made.workload.trains or not sized.forms or sized.instance is None:
        return
    yield "## Parallelism"
    yield ""
    name = sized.fit.name if sized.fit else "none fits"
    yield (
        f"**{name}** over {sized.devices} devices. GiB on one device; of "
        f"{sized.instance.device_memory_mib / 1024:.1f} GiB nine tenths are planned with."
    )
    yield ""
    yield "| form | parameters | gradients | optimizer | buffers | activations | total | fits |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from (_row(fit) for fit in _worth_showing(sized.forms, sized.fit))
    yield ""
    yield "Activations are a formula, not a measurement: leave room, and measure one step."
    shown = view_sources(made)
    yield f"Sources: {notes.quote(shown)}"


def view_sources(made: Design) -> tuple[Source, ...]:
    """Sources of the section on parallelism."""
    from_view = view(made)["parallelism"]["sources"]
    return tuple(Source(**source) for source in from_view)


def _worth_showing(forms: Sequence[Fit], chosen: Fit | None) -> list[Fit]:
    """Up to the chosen form, and the two after it."""
    last = forms.index(chosen) + 3 if chosen else len(forms)
    return list(forms[:last])


def _row(fit: Fit) -> str:
    cells = [fit.state.parameters, fit.state.gradients, fit.state.optimizer, fit.buffers]
    sizes = " | ".join(f"{cell / GIB:.1f}" for cell in cells)
    known = "?" if fit.activations is None else f"{fit.activations / GIB:.1f}"
    fits = "yes" if fit.fits else "no"
    return f"| {fit.name} | {sizes} | {known} | {fit.total / GIB:.1f} | {fits} |"


def _capacity(made: Design) -> Iterator[str]:
    lines = steps(made)
    if not lines:
        return
    yield "## Capacity"
    yield ""
    for group in capacity(made)["groups"]:
        extra = ", one zone" if group["zones"] == "one" else ""
        extra += ", cluster placement group" if group["placement_group"] else ""
        extra += f", {group['efa_interfaces']} EFA interfaces" if group["efa_interfaces"] else ""
        yield (
            f"- group {group['name']}: {group['min']} to {group['max']} x "
            f"{group['instance_type']}{extra}"
        )
    yield from (f"- {line}" for line in lines)


def _checkpoint(made: Design, notes: Notes) -> Iterator[str]:
    kept = made.saving
    if kept is None:
        return
    yield "## Checkpoints"
    yield ""
    yield (
        f"Every **{_span(kept.interval_s)}**; anything from {_span(kept.low_s)} to "
        f"{_span(kept.high_s)} is nearly as good. Losses and checkpoints then take about "
        f"{kept.overhead:.1%} of the time, first order."
    )
    yield ""
    yield from (f"- {line}" for line in (*kept.assumptions, *kept.advice))
    yield f"- Young {_span(kept.young_s)}, Daly {_span(kept.daly_s)}. {notes.quote(kept.sources)}"


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _advice(title: str, items: Sequence[Any], notes: Notes) -> Iterator[str]:
    if not items:
        return
    yield f"## {title}"
    yield ""
    for item in items:
        yield f"- {item.what}: {item.use}. {item.because} {notes.quote(item.sources)}"


def _security(made: Design, notes: Notes) -> Iterator[str]:
    yield "## Security baseline"
    yield ""
    yield "| | what | state | why, and what to do |"
    yield "|---|---|---|---|"
    for item in made.security:
        todo = f"{item.because}; {item.fix}" if item.fix else item.because
        yield f"| {item.id} | {item.what} | {item.state} | {todo} {notes.quote(item.sources)} |"
    for duty in view(made)["compliance"]:
        quoted = notes.quote([Source(**source) for source in duty["sources"]])
        yield ""
        yield f"{duty['regime'].upper()}: {duty['what']}. {quoted}"


def _cost(made: Design, notes: Notes) -> Iterator[str]:
    yield "## Cost"
    yield ""
    if made.cost:
        money = made.cost
        yield (
            f"**{_money(money.low)} to {_money(money.high)} {money.currency}** for {money.period} "
            f"(basis: {money.basis})."
        )
    yield f"{made.basis.because} {notes.quote(made.basis.sources)}"
    yield ""
    yield from (f"- driver: {driver}" for driver in made.basis.drivers)


def _money(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.2g}"


def _levers(made: Design, notes: Notes) -> Iterator[str]:
    yield "## Levers, in order"
    yield ""
    for lever in made.levers:
        yield (
            f"{lever.order}. {lever.lever}: **{lever.applies}**, {lever.because} "
            f"{notes.quote(lever.sources)}"
        )


def _guardrails(made: Design) -> Iterator[str]:
    yield "## Guardrails"
    yield ""
    for rail in made.guardrails:
        why = f" ({rail.because})" if rail.because else ""
        yield f"- {rail.id} {rail.what}: {rail.state}{why}"


def _assumptions(made: Design) -> Iterator[str]:
    if not made.workload.assumptions:
        return
    yield "## Assumptions"
    yield ""
    yield from (f"- {line}" for line in made.workload.assumptions)
