"""The security baseline SB1 to SB8: each in place, stated, or named as missing."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx.plan.decisions.decision import Source, cite
from phalanx.plan.decisions.host import EC2, FARGATE
from phalanx.plan.workload import Workload

ITEMS: dict[str, tuple[str, str, str]] = {
    "SB1": (
        "Task role and execution role apart, least privilege, no static keys",
        "give each role only what it calls; trust ecs-tasks with aws:SourceAccount and "
        "aws:SourceArn",
        "plan.roles",
    ),
    "SB2": (
        "Secrets by reference from Secrets Manager or SSM",
        "put every token into `secrets`, none into `env` or the image",
        "plan.secrets",
    ),
    "SB3": (
        "Images scanned and pinned by digest",
        "turn on ECR enhanced scanning, let the pipeline block, name images by @sha256:",
        "plan.image-scanning",
    ),
    "SB4": (
        "Provenance of model artefacts: revision, checksum, signature",
        "pin the exact revision, keep the SHA-256 of every file, sign the manifest",
        "plan.provenance",
    ),
    "SB5": (
        "Private subnets with VPC endpoints",
        "s3, ecr.api, ecr.dkr, logs, secretsmanager, ssm, and on EC2 hosts ecs, ecs-agent, "
        "ecs-telemetry; bedrock-runtime if used",
        "plan.endpoints",
    ),
    "SB6": (
        "Endpoint authenticated; Ray and metrics ports closed",
        "internal load balancer, authentication in front of the model server, TLS",
        "plan.endpoint-auth",
    ),
    "SB7": (
        "CloudTrail and Container Insights",
        "record the control plane, turn on Container Insights for the cluster, log requests in "
        "the application",
        "plan.audit",
    ),
    "SB8": (
        "Runtime threat detection on the hosts",
        "turn on GuardDuty Runtime Monitoring for the EC2 hosts",
        "plan.guardduty",
    ),
}
"""Item → (what, how, fact)."""


@dataclass(frozen=True)
class Item:
    """One item. `state` is `met`, `stated`, `missing` or `not-applicable`."""

    id: str
    what: str
    state: str
    because: str
    fix: str
    sources: tuple[Source, ...]


def baseline(workload: Workload, host: str) -> tuple[Item, ...]:
    """All eight items, in order."""
    return tuple(_item(id, workload, host) for id in ITEMS)


def duties(workload: Workload) -> tuple[tuple[str, str, tuple[Source, ...]], ...]:
    """What compliance regimes add: (regime, what, sources)."""
    said = {
        "pci": "a cluster, or provider and group, of its own; a security group for each task "
        "(awsvpc); roles apart. EFA wants host networking: one tenant on a dedicated cluster",
        "hipaa": "agreement in place, eligible parts of AWS only, customer keys on every store, no "
        "health data in logs or prompts",
        "fedramp": "GovCloud as needed, FIPS endpoints (fipsEnabled on a Managed Instances "
        "provider)",
        "gdpr": "Region pinned, and a way to delete training data",
    }
    facts = {"pci": "plan.pci", "hipaa": "plan.hipaa", "fedramp": "plan.fedramp"}
    return tuple(
        (name, said[name], cite(facts.get(name, "plan.fedramp")))
        for name in workload.security.compliance
    )


def _item(id: str, workload: Workload, host: str) -> Item:
    what, fix, fact = ITEMS[id]
    state, because = _state(id, workload, host)
    if id == "SB8" and host == FARGATE:
        fix = "turn on GuardDuty Runtime Monitoring for the tasks on Fargate"
    elif id == "SB8" and host != EC2:
        fix = (
            "run a third-party runtime agent as a daemon or sidecar, or keep this workload on EC2: "
            "GuardDuty Runtime Monitoring does not reach this host"
        )
    if id == "SB6" and workload.serving.facing == "public":
        fix += "; WAF in front, because it is public"
    return Item(id, what, state, because, fix if state == "missing" else "", cite(fact))


def _state(id: str, workload: Workload, host: str) -> tuple[str, str]:
    security = workload.security
    for name, because in security.missing:
        if name == id:
            return "missing", because
    if id in security.stated:
        if id == "SB8" and host not in (EC2, FARGATE):
            return "missing", "stated, but GuardDuty Runtime Monitoring does not reach this host"
        return "stated", "the workload file says so; this was not checked"
    if id == "SB2" and dict(security.seen).get(id):
        return "met", dict(security.seen)[id]
    if id == "SB6" and workload.use != "inference":
        return "not-applicable", "no endpoint is served; close Ray, Jupyter and metrics ports"
    seen = dict(security.seen).get(id)
    return "missing", f"only in part: {seen}" if seen else "nothing shows that it is in place"
