"""Rooms small enough to guess; where a limit fights clarity, EXCEPTIONS says why it gives way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from statistics import median

from tests.house.tree import Function, classes, functions, modules

MODULE_LINES = 400
FUNCTION_LINES = 50
BRANCHES = 10
ARGUMENTS = 6
PROTOCOL_METHODS = 4

EXCEPTIONS: dict[str, str] = {
    "phalanx.explain.model:Explanation.plain": "one flat answer; each list in it is a loop",
    "phalanx.lint.rule:rule": "a declaration: every part of a rule is given by name, once",
}
"""`module` or `module:function` → why clarity wins there."""

_BRANCHING = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.comprehension, ast.match_case)


def lines_of(node: Function) -> int:
    """Lines from `def` to the end, decorators left out, docstring included."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def branches_of(node: Function) -> int:
    """Ways through: one, and one more for each statement that forks. Expressions count as one."""
    ways = 1
    for child in _own(node):
        ways += isinstance(child, _BRANCHING)
    return ways


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Everything inside a function, without the functions inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from _own(child)


def arguments_of(node: Function) -> int:
    """Arguments that a caller gives; the options of a command line count as one."""
    if any("option" in ast.dump(d) or "argument" in ast.dump(d) for d in node.decorator_list):
        return 1
    named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in named)


def over(measured: dict[str, int], limit: int) -> list[str]:
    """Places above a limit that have no exception, the worst first."""
    found = [(size, place) for place, size in measured.items() if size > limit]
    return [f"{place}: {n}" for n, place in sorted(found, reverse=True) if place not in EXCEPTIONS]


def measured_functions() -> dict[str, Function]:
    """Every function of the package by its place."""
    return {place: node for module in modules() for place, node in functions(module)}


def summary() -> str:
    """One line for the end of the run."""
    sizes = [module.lines for module in modules() if module.lines > 1]
    lengths = [lines_of(node) for node in measured_functions().values()]
    return (
        f"sizes: {len(sizes)} modules, median {median(sizes):.0f}, longest {max(sizes)} lines; "
        f"{len(lengths)} functions, median {median(lengths):.0f}, longest {max(lengths)} lines"
    )


def test_no_module_is_too_long() -> None:
    assert over({m.name: m.lines for m in modules()}, MODULE_LINES) == []


def test_no_function_is_too_long() -> None:
    found = {place: lines_of(node) for place, node in measured_functions().items()}
    assert over(found, FUNCTION_LINES) == []


def test_no_function_has_too_many_branches() -> None:
    found = {place: branches_of(node) for place, node in measured_functions().items()}
    assert over(found, BRANCHES) == []


def test_no_function_takes_too_many_arguments() -> None:
    found = {place: arguments_of(node) for place, node in measured_functions().items()}
    assert over(found, ARGUMENTS) == []


def test_no_protocol_has_too_many_methods() -> None:
    found = {
        f"{module.name}:{node.name}": sum(isinstance(n, Function) for n in node.body)
        for module in modules()
        for node in classes(module)
        if any("Protocol" in ast.dump(base) for base in node.bases)
    }
    assert over(found, PROTOCOL_METHODS) == []


def test_every_exception_is_still_needed() -> None:
    rooms = {module.room for module in modules()}
    excused = {place for place in EXCEPTIONS if place.split(".")[1] in rooms}
    big = {m.name for m in modules() if m.lines > MODULE_LINES}
    for place, node in measured_functions().items():
        if (
            lines_of(node) > FUNCTION_LINES
            or branches_of(node) > BRANCHES
            or arguments_of(node) > ARGUMENTS
        ):
            big.add(place)
    assert excused - big == set()


def test_the_measures_see_what_is_there() -> None:
    text = (
        "def f(self, a, *, b):\n"
        "    if a and b or a:\n"
        "        return [x for x in a]\n"
        "    def g():\n"
        "        if a: pass\n"
        "    return 1 if a else 2\n"
    )
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert (lines_of(node), branches_of(node), arguments_of(node)) == (6, 3, 2)
