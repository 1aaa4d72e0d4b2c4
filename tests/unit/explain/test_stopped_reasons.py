"""Reasons of stopped tasks that are easily taken for others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx.explain.explain import explain
from phalanx.explain.reading import Input

INIT = "ResourceInitializationError: unable to pull secrets or registry auth: "


def answer(reason: str, code: str = "TaskFailedToStart", **container: Any) -> dict[str, Any]:
    task = {
        "taskArn": "arn:aws:ecs:eu-west-1:111122223333:task/c/a",
        "lastStatus": "STOPPED",
        "stopCode": code,
        "stoppedReason": reason,
        "containers": [{"name": "t", "lastStatus": "STOPPED", **container}],
    }
    return explain([Input("t.json", json.dumps({"tasks": [task]}).encode())]).plain()


def slugs(given: dict[str, Any]) -> list[tuple[str, str]]:
    return [(f["slug"], f["where"]) for f in given["findings"]]


@pytest.mark.parametrize(
    "reason",
    [
        f"{INIT}execution resource retrieval failed: unable to retrieve secret from asm: "
        "AccessDeniedException",
        f"{INIT}unable to retrieve secrets from ssm: AccessDeniedException: User is not authorized "
        "to perform: ssm:GetParameters",
        "Fetching secret data from AWS Secrets Manager in region eu-west-1: AccessDeniedException",
        f"{INIT}User: x is not authorized to perform: kms:Decrypt",
    ],
)
def test_a_secret_that_may_not_be_read_is_no_denied_image(reason: str) -> None:
    given = answer(reason)
    assert slugs(given) == [("secret-access-denied", "tasks[0].stoppedReason")]
    assert given["tasks"][0]["class"] == "Unknown"
    fix = given["findings"][0]["fix"]
    assert all(w in fix for w in ("GetSecretValue", "ssm:GetParameters", "kms:Decrypt"))


@pytest.mark.parametrize(
    ("reason", "slug"),
    [
        (f"{INIT}unable to retrieve ecr registry auth: AccessDeniedException", "image-pull-denied"),
        (f"{INIT}unable to retrieve secret from asm: dial tcp: i/o timeout", "task-init-failed"),
        ("CannotPullContainerError: 403 Forbidden", "image-pull-denied"),
    ],
)
def test_its_neighbours_stay_what_they_are(reason: str, slug: str) -> None:
    assert [s for s, _ in slugs(answer(reason))] == [slug]


def test_a_denied_pull_of_a_missing_image_names_the_sign_in() -> None:
    reason = "CannotPullContainerError: pull access denied for x, repository does not exist or may "
    given = answer(reason + "require authorization")
    assert "repositoryCredentials" in given["findings"][0]["fix"]


@pytest.mark.parametrize(
    "reason",
    [
        "Task failed ELB health checks in (target-group arn:aws:x)",
        "Task stopped due to failed container health checks",
        "Task failed container health checks",
    ],
)
def test_a_service_replaces_what_it_stopped_for_its_health(reason: str) -> None:
    given = answer(reason, "ServiceSchedulerInitiated", exitCode=137)
    assert slugs(given) == [("service-health-check-failing", "tasks[0].stoppedReason")]
    assert given["decision"]["next"] == "none"
    assert given["tasks"][0]["action"] == "none"
    assert given["tasks"][0]["class"] == "Unknown"


def test_another_stop_by_the_service_is_no_failed_health_check() -> None:
    given = answer("Scaling activity initiated by (deployment x)", "ServiceSchedulerInitiated")
    assert slugs(given) == []


PULL = "CannotPullContainerError: "


@pytest.mark.parametrize(
    ("reason", "slug"),
    [
        (f"{PULL}image manifest does not contain descriptor matching platform 'linux/arm64'", ""),
        (f"{PULL}no matching manifest for linux/arm64/v8 in the manifest list entries", ""),
        (f"{PULL}no match for platform in manifest: not found", ""),
        (f"{PULL}image's platform (linux/amd64) does not match the host's (linux/arm64)", ""),
        ("CannotStartContainerError: exec /usr/bin/python: exec format error", ""),
        (f"{PULL}manifest for x:v2 not found: manifest unknown", "image-not-found"),
    ],
)
def test_an_image_of_another_architecture(reason: str, slug: str) -> None:
    given = answer(reason)
    assert [s for s, _ in slugs(given)] == [slug or "image-wrong-architecture"]
    assert given["decision"]["next"] == "fail"


@pytest.mark.parametrize(
    "reason",
    [
        "Scaling activity initiated by (deployment ecs-svc/123)",
        "Task stopped by a deployment of (service x)",
        "",
    ],
)
def test_what_a_service_stops_on_purpose_is_left_alone(reason: str) -> None:
    given = answer(reason, "ServiceSchedulerInitiated", exitCode=143)
    assert given["decision"]["next"] == "none"
    assert given["tasks"][0]["action"] == "none"
    assert "on purpose" in given["decision"]["reason"]
