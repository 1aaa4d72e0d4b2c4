"""What was seen in one look: the target's tasks and the gang's own objects."""

from __future__ import annotations

from phalanx.frozen import frozen
from phalanx.state.gang import Beat, End, Head, Member, World
from phalanx.words import FailureClass, TaskState


@frozen
class ObservedTask:
    """One task as the target tells it."""

    id: str
    """pid or ARN."""
    token: str
    """The launch token it was started with."""
    slot: int
    incarnation: int
    tries: int
    state: TaskState
    host: str = ""
    exit_code: int | None = None
    failure: FailureClass | None = None
    """The target's own class for the ending, when it knows one."""
    reason: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether it may still hold devices."""
        return self.state is not TaskState.STOPPED


@frozen
class SeenBeat:
    """A beat and its age by the store's clock."""

    beat: Beat
    age_ns: int


@frozen
class Observed:
    """One complete look. A look that could not be completed is never made into an `Observed`."""

    tasks: tuple[ObservedTask, ...] = ()
    members: tuple[Member, ...] = ()
    """Of the record's current attempt."""
    world: World | None = None
    ends: tuple[End, ...] = ()
    """Of the record's current attempt."""
    beats: tuple[SeenBeat, ...] = ()
    head: Head | None = None
    leftovers: tuple[str, ...] = ()
    """Processes or other remains of the job outside its tasks, as the target names them."""
