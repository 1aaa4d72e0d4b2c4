"""What starts workloads: services, RunTask and StartTask inputs, event rules, job queues."""

from __future__ import annotations

from functools import cached_property

from phalanx.lint.capacity import CapacityProvider, SecurityGroup, Subnet
from phalanx.lint.entity import Entity, Node
from phalanx.lint.infra import Cluster, TargetGroup
from phalanx.lint.workload import TaskDefinition, Workload


class Launcher(Entity):
    """Starts tasks of a workload, in the words of CreateService and RunTask."""

    kind = "launcher"

    @cached_property
    def workload(self) -> Workload | None:
        """The task definition it starts, if that is in the world."""
        return self.world.link(self, self.raw("taskDefinition"), TaskDefinition)

    @property
    def task(self) -> TaskDefinition | None:
        """`workload`, where it is a task definition."""
        return self.workload if isinstance(self.workload, TaskDefinition) else None

    @cached_property
    def strategy(self) -> list[Node]:
        """Items of its capacity-provider strategy (`capacityProvider`, `weight`, `base`)."""
        return self.items("capacityProviderStrategy")

    @cached_property
    def capacity_providers(self) -> list[CapacityProvider]:
        """Providers of its strategy that are in the world."""
        found = [
            self.world.link(self, item.raw("capacityProvider"), CapacityProvider)
            for item in self.strategy
        ]
        return [p for p in found if p is not None]

    @property
    def launch_type(self) -> str | None:
        """EC2, FARGATE, EXTERNAL; None when not said."""
        return self.text("launchType")

    @cached_property
    def is_fargate(self) -> bool:
        """Launch type or strategy says Fargate."""
        names = [item.text("capacityProvider") or "" for item in self.strategy]
        return self.launch_type == "FARGATE" or any(n.startswith("FARGATE") for n in names)

    @cached_property
    def cluster(self) -> Cluster | None:
        """Its cluster, if that is in the world."""
        return self.world.link(self, self.raw("cluster"), Cluster)

    @cached_property
    def subnets(self) -> list[Subnet]:
        """Subnets of its tasks that are in the world."""
        node = self.node("networkConfiguration.awsvpcConfiguration.subnets")
        return self.world.links(self, node, Subnet)

    @cached_property
    def security_groups(self) -> list[SecurityGroup]:
        """Security groups of its tasks that are in the world."""
        node = self.node("networkConfiguration.awsvpcConfiguration.securityGroups")
        return self.world.links(self, node, SecurityGroup)


class Service(Launcher):
    """CreateService, `AWS::ECS::Service`, `aws_ecs_service`."""

    kind = "service"
    name_paths = ("serviceName",)

    @property
    def desired(self) -> float | None:
        """`desiredCount`; None when missing or unknown."""
        return self.number("desiredCount")

    @property
    def is_daemon(self) -> bool:
        """One task per host."""
        return self.text("schedulingStrategy") == "DAEMON"

    @cached_property
    def target_groups(self) -> list[TargetGroup]:
        """Target groups behind its load balancers that are in the world."""
        found = [
            self.world.link(self, item.raw("targetGroupArn"), TargetGroup)
            for item in self.items("loadBalancers")
        ]
        return [t for t in found if t is not None]


class RunTask(Launcher):
    """RunTask or StartTask input; `overrides` are read with `items("overrides....")`."""

    kind = "RunTask input"
    name_paths = ()

    @property
    def is_start_task(self) -> bool:
        """It pins container instances, so it is a StartTask input."""
        return self.has("containerInstances")


class EventTarget(Launcher):
    """An ECS target of an event rule: `taskDefinition`, `launchType`, `taskCount`."""

    kind = "event target"
    name_paths = ()
