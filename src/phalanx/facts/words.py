"""Rows as people read them, and as JSON."""

from __future__ import annotations

from dataclasses import asdict

from phalanx.facts.instances import InstanceType, family, instance, source_of
from phalanx.facts.rows import FactRow, rows

Shown = tuple[dict[str, object], str]
"""(the JSON object, the text)."""


def show_instance(word: str) -> list[Shown]:
    """The type of that name, or every type of that family."""
    one = instance(word)
    found = [one] if one else list(family(word))
    return [_instance(row) for row in found]


def show_row(word: str) -> list[Shown]:
    """The fact of that name, or every fact below it (`spot` shows `spot.notice-s`)."""
    found = [r for r in rows().values() if r.id == word or r.id.startswith(word + ".")]
    return [_row(row) for row in found]


def _instance(row: InstanceType) -> Shown:
    source, page, verified = source_of(row.name)
    if row.count:
        device = f"{row.count} x {row.maker} {row.accelerator}"
        if row.is_fractional:
            device = f"{row.share:g} of one {row.maker} {row.accelerator}"
        device += f", {row.device_memory_mib} MiB each"
    else:
        device = "no accelerator"
    doubt = _doubt(row)
    lines = [
        f"{row.name}",
        f"  accelerator   {device}",
        f"  vCPU, memory  {row.vcpus}, {row.memory_mib} MiB nominal (the agent registers less)",
        f"  EFA           {row.efa or 'none'} (network cards: {row.network_cards})",
        f"  NVMe          {f'{row.nvme_count} x {row.nvme_gb} GB' if row.nvme_count else 'none'}",
        f"  architecture  {row.architecture}",
        f"  usage         {', '.join(row.usage)} (a class, not a promise of stock)",
        f"  source        {source}; {page} ({verified})",
    ]
    if doubt:
        lines.append(f"  in doubt      {doubt.says} {doubt.note}")
    view: dict[str, object] = {
        "kind": "instance",
        **asdict(row),
        "sources": [{"url": page, "verified": verified, "from": source}],
    }
    if doubt:
        view["in_doubt"] = {"id": doubt.id, "mark": doubt.mark, "note": doubt.note}
    return view, "\n".join(lines)


def _doubt(row: InstanceType) -> FactRow | None:
    return rows().get("neuron.trn2-memory") if row.family.startswith("trn2") else None


def _row(row: FactRow) -> Shown:
    lines = [row.id, f"  value   {row.value}", f"  says    {row.says}"]
    if row.mark:
        lines.append(f"  {row.mark}  {row.note}")
    lines += [f"  source  {s.url} ({s.verified})" for s in row.sources]
    lines.append(f"  digest  {', '.join(row.fact)}")
    view: dict[str, object] = {"kind": "fact", **asdict(row)}
    return view, "\n".join(lines)
