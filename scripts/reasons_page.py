"""Write the failure classes of docs/reasons.md anew, from what `phalanx why` says about them."""

from __future__ import annotations

from pathlib import Path

from phalanx.verdict.advice import advice
from phalanx.words import FailureClass

PAGE = Path(__file__).parents[1] / "docs" / "reasons.md"
START = "<!-- written by scripts/reasons_page.py -->\n"
END = "<!-- end -->\n"


def section(failure: FailureClass) -> str:
    said = advice(failure)
    return (
        f"### {failure.value}\n\n{said.means}\n\n"
        f"- **What phalanx does:** {said.phalanx}\n- **What you do:** {said.person}\n"
    )


def main() -> None:
    before, rest = PAGE.read_text().split(START)
    after = rest.split(END)[1]
    body = "\n".join(section(failure) for failure in FailureClass)
    PAGE.write_text(f"{before}{START}\n{body}\n{END}{after}")


if __name__ == "__main__":
    main()
