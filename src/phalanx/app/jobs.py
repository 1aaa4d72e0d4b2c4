"""Find jobs under a root by what people type."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.app.root import Root
from phalanx.errors import InputError, StoreError, StoreUnavailable
from phalanx.names import Keys, split_job_id
from phalanx.state.codec import loads
from phalanx.state.record import Record

JOBS = "jobs"
REMOVED = "removed"
"""Folder of one small object per removed job: its number is never given again."""


@dataclass(frozen=True)
class Job:
    """One job as loaded: `version` is the record's, for a replacement."""

    root: Root
    id: str
    record: Record
    version: str
    note: str = ""
    """What a person should know about how the name was understood; "" when nothing."""

    @property
    def keys(self) -> Keys:
        """Keys of the job."""
        return Keys(self.id)


def job_ids(root: Root) -> tuple[str, ...]:
    """Ids of all jobs under the root, by name and then number.

    A job that is being written or removed at this moment may be among them.
    """
    found = [(split, text) for text in root.store.list(JOBS) if (split := split_job_id(text))]
    return tuple(text for _, text in sorted(found))


def load_all(root: Root) -> tuple[tuple[Job, ...], dict[str, str]]:
    """Every job that can be read, and for each that cannot: id → one line that says why."""
    jobs, refused = [], {}
    for job in job_ids(root):
        try:
            jobs.append(load(root, job))
        except StoreUnavailable as error:
            if not isinstance(error.__cause__, PermissionError):
                raise
            refused[job] = error.line()
        except StoreError as error:
            refused[job] = error.line()
        except InputError:
            continue  # removed, or not written yet
    return tuple(jobs), refused


def load(root: Root, job: str, note: str = "") -> Job:
    """Load one job by its exact id. Raises `InputError` when it is not there."""
    found = root.store.read(Keys(job).record)
    if found is None:
        raise InputError(
            f"there is no job {job} under {root.folder}", hint="`phalanx ps` lists them"
        )
    try:
        record = loads(Record, found.data)
    except ValueError as error:
        raise StoreError(
            f"the record of {job} under {root.folder} cannot be read: {error}",
            hint="a newer phalanx may have written it",
        ) from error
    return Job(root, job, record, found.version, note)


def find_job(root: Root, text: str) -> Job:
    """The job that `text` means: an id, or a bare name for the newest job of that name.

    Raises `InputError`, with near names, when there is none.
    """
    ids = job_ids(root)
    if text in ids:
        return load(root, text)
    named = [job for job in ids if (split := split_job_id(job)) and split[0] == text]
    others = f", the newest of {len(named)} named {text}" if len(named) > 1 else ""
    for job in reversed(named):
        if root.store.read(Keys(job).record) is not None:
            return load(root, job, f"{text} means {job}{others}")
    if split_job_id(text) and root.store.read(f"{REMOVED}/{text}") is not None:
        raise InputError(f"{text} was removed from {root.folder}", hint=_near("", ids))
    raise InputError(f"there is no job {text} under {root.folder}", hint=_near(text, ids))


def _near(text: str, ids: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    names = {split[0] for job in ids if (split := split_job_id(job))}
    near = get_close_matches(text, [*ids, *sorted(names)], 3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return "`phalanx ps` lists the jobs" if ids else "no job was started there yet"
