"""Addresses of the web in a job file: checked without being shown, since they may hold a token."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from phalanx.spec.fields import filled
from phalanx.spec.wrong import Wrong

_HOST = r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)"
_ADDRESS = re.compile(rf"https?://{_HOST}(?::[0-9]{{1,5}})?(?:[/?][!-~]*)?", re.IGNORECASE)
_LONGEST = 2000


def web_address(value: object) -> str:
    """An http or https URL. Raises `Wrong`."""
    url = filled(value)
    if not re.match(r"https?://", url, re.IGNORECASE):
        raise Wrong("{path} must begin with https:// or http://")
    if "@" in url.split("/", 3)[2]:
        raise Wrong("{path} must not hold a user's name", "use a URL with a token in its path")
    if not _ADDRESS.fullmatch(url) or len(url) > _LONGEST or "#" in url:
        raise Wrong("{path} is no URL that a message can be sent to", "write https://host/path")
    return url


WebAddress = Annotated[
    str, PlainValidator(web_address), WithJsonSchema({"type": "string", "pattern": "^https?://"})
]
