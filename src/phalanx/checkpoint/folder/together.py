"""Many small files at once: each waits for its disk, and the disk serves many waits together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

THREADS = 8
"""They wait for the disk nearly all the time; a disk makes as many files durable in one write."""
SMALL_BYTES = 1 << 20
"""A larger file keeps a disk busy alone."""


class Tally:
    """How far some work is: written by those who do it, read by anybody."""

    def __init__(self) -> None:
        self.total = 0
        """Files in all; 0 while nothing is under way."""
        self.done = 0
        self._lock = Lock()

    def begin(self, total: int) -> None:
        """A new piece of work of so many files."""
        self.done, self.total = 0, total

    def count(self) -> None:
        """One more file is done."""
        with self._lock:
            self.done += 1

    def end(self) -> None:
        """Nothing is under way."""
        self.total = 0


def together(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """`work` of every item, in their order; many at once.

    Once one raises no other is begun; all have come back when its error is raised.
    """
    if len(items) < 2:
        return [work(item) for item in items]
    crew = _Crew(work, items)
    threads = [Thread(target=crew.work, daemon=True) for _ in range(min(THREADS, len(items)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if crew.error is not None:
        raise crew.error
    return [crew.results[number] for number in range(len(items))]


class _Crew(Generic[T, R]):
    """What the threads of one call share; taking from an iterator is one step."""

    def __init__(self, work: Callable[[T], R], items: Sequence[T]) -> None:
        self._work, self._left = work, iter(list(enumerate(items)))
        self.results: dict[int, R] = {}
        self.error: BaseException | None = None

    def work(self) -> None:
        """Take items until there are none."""
        for number, item in self._left:
            if self.error is not None:
                return
            try:
                self.results[number] = self._work(item)
            except BaseException as error:
                self.error = self.error or error
                return
