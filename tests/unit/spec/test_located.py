from __future__ import annotations

import pytest

from phalanx.errors import SpecError
from phalanx.spec.located import read
from phalanx.spec.places import BYTES_MAX, DEPTH_MAX

YAML = """\
kind: train
restart:
  - {on: [HostLost], do: restart}
  - on:
      - Hang
env: {A: yes, B: "1"}
"""
JSON = """\
{
\t"kind": "train",
  "env": {"A": "x", "B": [1, {"c": null}]}
}
"""


def test_plain_values_of_yaml() -> None:
    assert read(YAML, "a.yaml").value == {
        "kind": "train",
        "restart": [{"on": ["HostLost"], "do": "restart"}, {"on": ["Hang"]}],
        "env": {"A": "yes", "B": "1"},
    }


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ((), (1, 1), (1, 1)),
        (("kind",), (1, 7), (1, 1)),
        (("restart",), (3, 3), (2, 1)),
        (("restart", 0), (3, 5), (3, 5)),
        (("restart", 0, "on", 0), (3, 11), (3, 11)),
        (("restart", 1, "on", 0), (5, 9), (5, 9)),
        (("env", "B"), (6, 18), (6, 15)),
        (("env", "missing"), (6, 6), (6, 6)),
        (("restart", 7, "on"), (3, 3), (3, 3)),
        (("kind", "deeper"), (1, 7), (1, 7)),
    ],
)
def test_places_of_yaml(
    path: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]
) -> None:
    document = read(YAML, "a.yaml")
    assert document.place(path) == value
    assert document.key_place(path) == key


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ((), (1, 1), (1, 1)),
        (("kind",), (2, 10), (2, 2)),
        (("env", "A"), (3, 16), (3, 11)),
        (("env", "B", 0), (3, 27), (3, 27)),
        (("env", "B", 1, "c"), (3, 36), (3, 31)),
        (("env", "B", 2), (3, 26), (3, 26)),
        (("nowhere", "at", "all"), (1, 1), (1, 1)),
    ],
)
def test_places_of_json(
    path: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]
) -> None:
    document = read(JSON, "a.json")
    assert document.place(path) == value
    assert document.key_place(path) == key


def test_json_places_survive_brackets_and_quotes_in_text() -> None:
    document = read('{"a": "]}\\"{[:,", "b\\n": 2}', "a.json")
    assert document.value == {"a": ']}"{[:,', "b\n": 2}
    assert document.place(("b\n",)) == (1, 26)


def test_json_under_another_name_and_with_a_byte_order_mark() -> None:
    document = read('\ufeff{"a":\t1}', "stack.template")
    assert document.value == {"a": 1}
    assert document.place(("a",)) == (1, 7)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("No", "No"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("012", "012"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("0x1f", "0x1f"),
        ("1.5", 1.5),
        ("1234e567", "1234e567"),
        (".5", 0.5),
        (".", "."),
        ("-", [None]),
        ("2026-01-02", "2026-01-02"),
        ('"12"', "12"),
        ("!!str 12", "12"),
        ("!!int 12", 12),
        ("!!float 12", 12.0),
        ("!!seq [1]", [1]),
        ("! 12", "12"),
        ("9" * 50, "9" * 50),
        ("<<", "<<"),
    ],
)
def test_words_of_yaml(written: str, meant: object) -> None:
    value = read(f"a:\n  {written}\n", "a.yaml").value
    assert value == {"a": meant}
    assert type(value["a"]) is type(meant)  # type: ignore[index]


def test_keys_are_text_as_written() -> None:
    value = read("on: 1\n12: 2\ntrue: 3\n~: 4\n", "a.yaml").value
    assert value == {"on": 1, "12": 2, "true": 3, "~": 4}


def test_aliases_and_merges() -> None:
    document = read(
        "a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}\nd: {<<: [*x, {r: 4}]}\n", "a.yaml"
    )
    assert document.value == {
        "a": {"p": 1, "q": 2},
        "b": {"p": 1, "q": 2},
        "c": {"p": 1, "q": 3},
        "d": {"p": 1, "q": 2, "r": 4},
    }
    assert document.place(("c", "p")) == (1, 11)
    assert document.place(("c", "q")) == (3, 16)
    # A name comes in where it is merged; an alias stands where it is used.
    assert document.key_place(("c", "p")) == (3, 5)
    assert document.place(("b",)) == (2, 4)
    assert document.place(("b", "p")) == (1, 11)


def long_form(tag: str, value: object) -> tuple[str, object] | None:
    if tag == "!GetAtt" and isinstance(value, str):
        return "Fn::GetAtt", value.split(".", 1)
    return {"!Ref": ("Ref", value), "!Sub": ("Fn::Sub", value)}.get(tag)


def test_tags_get_their_meaning_from_the_caller() -> None:
    text = "a: !Ref B\nc: !GetAtt D.Arn\ne: !Sub\n  - x\n  - {F: !Ref G}\n"
    document = read(text, "a.yaml", tags=long_form)
    assert document.value == {
        "a": {"Ref": "B"},
        "c": {"Fn::GetAtt": ["D", "Arn"]},
        "e": {"Fn::Sub": ["x", {"F": {"Ref": "G"}}]},
    }
    assert document.place(("a", "Ref")) == (1, 4)
    assert document.place(("c", "Fn::GetAtt", 1)) == (2, 4)
    assert document.place(("e", "Fn::Sub", 1, "F", "Ref")) == (5, 9)
    with pytest.raises(SpecError, match="the tag !Join is not allowed here"):
        read("a: !Join [a]", "a.yaml", tags=long_form)


BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
CHAIN = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 200))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "f.yaml: is empty"),
        ("# only this\n", "f.yaml: is empty"),
        (
            "a: 1\nb: 2\na: 3\n",
            "f.yaml:3:1: 'a' is given twice, first at line 1, column 1 (keep one of them)",
        ),
        (
            "a: {<<: {b: 1}, <<: {c: 1}}",
            "f.yaml:1:17: '<<' is given twice, first at line 1, column 5 (keep one of them)",
        ),
        (
            "a: {<<: 3}",
            "f.yaml:1:5: << merges mappings only (write <<: *name, where &name marks a mapping)",
        ),
        (BOMB, "f.yaml:5:11: aliases of aliases grow without measure (write it out)"),
        (CHAIN, "f.yaml:100:12: is nested more than 100 deep"),
        (
            "a: &x [*x]",
            "f.yaml:1:8: the alias *x stands inside the value that it names (write it out)",
        ),
        (
            "a: *b",
            "f.yaml:1:4: the alias *b names no anchor above it"
            " (mark a value above with &b, or put text with * in quotes)",
        ),
        ("&a b: 1\n*a : 2", "f.yaml:2:1: a name cannot be an alias (write it out)"),
        (
            "a: [x, *.pt]",
            "f.yaml:1:8: is not YAML: a * stands before what is no name of an anchor"
            " (put text with * in quotes)",
        ),
        (
            "a:\n  - & x",
            "f.yaml:2:5: is not YAML: a & stands before what is no name of an anchor"
            " (put text with & in quotes)",
        ),
        (
            "a: &x 1\nb: &y *x",
            "f.yaml:2:7: is not YAML: an alias (*name) takes no anchor and no tag of its own"
            " (write *name alone)",
        ),
        (
            "a: [&x &y 1]",
            "f.yaml:1:8: is not YAML: a value takes one anchor (&name) and one tag (!name)"
            " (remove one)",
        ),
        (
            "a: [!*.pt]",
            "f.yaml:1:5: is not YAML: a ! stands before what is no name of a tag"
            " (put text with ! in quotes)",
        ),
        (
            "a: !b!c x",
            "f.yaml:1:4: is not YAML: a tag (!a!b) whose handle is declared nowhere"
            " (put text with ! in quotes)",
        ),
        ("[a]: 1", "f.yaml:1:1: a name must be text, not a list or mapping"),
        ("!x a: 1", "f.yaml:1:1: a name cannot have a tag (remove it)"),
        (
            "a: !Ref x",
            "f.yaml:1:4: the tag !Ref is not allowed here"
            " (remove it, or put text with ! in quotes)",
        ),
        ("a: !Ref {b: 1}", "f.yaml:1:4: the tag !Ref is not allowed here (remove it)"),
        ("a: !Ref [b]", "f.yaml:1:4: the tag !Ref is not allowed here (remove it)"),
        (
            "a: !<b%0Ac> x",
            "f.yaml:1:4: the tag 'b\\nc' is not allowed here"
            " (remove it, or put text with ! in quotes)",
        ),
        (
            "a: !!python/object:os.system x",
            "f.yaml:1:4: the tag !!python/object:os.system is not allowed here"
            " (remove it, or put text with ! in quotes)",
        ),
        ("a: !!int x", "f.yaml:1:4: the tag !!int does not fit this value (remove it)"),
        ("a: !!str {b: 1}", "f.yaml:1:4: the tag !!str does not fit this value (remove it)"),
        ("a: !!map [b]", "f.yaml:1:4: the tag !!map does not fit this value (remove it)"),
        ("a: !!seq {b: 1}", "f.yaml:1:4: the tag !!seq does not fit this value (remove it)"),
        ("--- 1\n--- 2\n", "f.yaml:2:1: holds more than one document (keep one file for each)"),
        ("[" * 200, "f.yaml:1:101: is nested more than 100 deep"),
        ("[" * 5000, "f.yaml:1:1001: is not YAML: brackets are nested too deeply"),
        (
            "a:\n\tb: 1",
            "f.yaml:2:1: is not YAML: a tab stands where YAML wants spaces (indent with spaces)",
        ),
        (
            "a: b: c",
            "f.yaml:1:5: is not YAML: a colon stands where no name can (quote text with ': ')",
        ),
        ("a: [1\n", "f.yaml:2:1: is not YAML: a [ is not closed with ]"),
        ("a: {b: 1\n", "f.yaml:2:1: is not YAML: a { is not closed with }"),
        ("a: 'x", "f.yaml:1:6: is not YAML: a quoted text has no closing quote"),
        (
            "a: @x",
            "f.yaml:1:4: is not YAML: no value can begin with this character (put it in quotes)",
        ),
        (
            "- a\nb: 1",
            "f.yaml:2:1: is not YAML: this line does not continue the list above it"
            " (check indentation)",
        ),
        (
            "a: |\n  x\n y",
            "f.yaml:3:2: is not YAML: this line does not continue the mapping above it"
            " (check indentation)",
        ),
        ("a: \x07", "f.yaml:1:4: holds the control character U+0007, so it is not YAML"),
        ("a: \0", "f.yaml:1:4: holds the character U+0000, so it is not a text file"),
        ("a: \ud800", "f.yaml:1:4: holds the character U+D800, so it is not a text file"),
        (b"a: \0", "f.yaml: is not a text file (a job file is YAML or JSON in UTF-8)"),
        ("a: ä".encode("utf-16"), "f.yaml: is UTF-16 text (save it as UTF-8)"),
        (
            "b: 1\nä: ä".encode("latin-1"),
            "f.yaml:2:1: the byte 0xe4 is not UTF-8 text (save it as UTF-8)",
        ),
        (b"#" * (BYTES_MAX + 1), "f.yaml: is larger than 5 MiB"),
    ],
    ids=range(45),
)
def test_refusals_of_yaml(text: str | bytes, line: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(text, "f.yaml")
    assert caught.value.line() == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (" \n", "f.json: is empty"),
        (
            '{"a": {"b": 1,\n "b": 2}}',
            "f.json:2:2: 'b' is given twice, first at line 1, column 8 (keep one of them)",
        ),
        (
            '{"a": 1,\n}',
            "f.json:1:8: a comma stands before the closing }, which JSON does not allow"
            " (remove the comma)",
        ),
        (
            "[1, 2, ]",
            "f.json:1:6: a comma stands before the closing ], which JSON does not allow"
            " (remove the comma)",
        ),
        (
            '{"a": 1 // why\n}',
            "f.json:1:9: JSON has no comments (remove it, or write the file as YAML)",
        ),
        ("{'a': 1}", "f.json:1:2: JSON puts text in double quotes"),
        ('{"a": 1', "f.json:1:8: is not JSON: the file ends before the document does"),
        ('{"a" 1}', "f.json:1:6: is not JSON: a colon is missing after the name"),
        ('["a" "b"]', "f.json:1:6: is not JSON: a comma or a closing bracket is missing"),
        ("{} {}", "f.json:1:4: is not JSON: more text follows after the end of the document"),
        ('{"a": "x', "f.json:1:7: is not JSON: this text has no closing quote"),
        ('{"a": NaN}', "f.json: holds NaN, which is not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "f.json: holds a number with too many digits"),
        ('{"a": "\\ud800"}', "f.json: holds half of a \\u surrogate pair, which is no character"),
        ("[" * 200 + "]" * 200, "f.json:1:101: is nested more than 100 deep"),
        ("[" * 100_000, "f.json:1:101: is nested more than 100 deep"),
    ],
    ids=range(16),
)
def test_refusals_of_json(text: str, line: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(text, "f.json")
    assert caught.value.line() == line


def test_the_deepest_nesting_is_read() -> None:
    text = "[" * DEPTH_MAX + "]" * DEPTH_MAX
    assert read(text, "a.json").value == read(text, "a.yaml").value


def test_many_aliases_of_one_value_are_fine() -> None:
    text = "a: &x {b: 1}\nc:\n" + "  - *x\n" * 3000
    value = read(text, "a.yaml").value
    assert isinstance(value, dict)
    assert value["c"] == [{"b": 1}] * 3000
