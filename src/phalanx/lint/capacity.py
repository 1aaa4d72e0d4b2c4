"""Where things run: capacity providers, scaling groups, launch templates, networks."""

from __future__ import annotations

import re
from functools import cached_property

from phalanx.lint.entity import Entity, Node
from phalanx.lint.userdata import UserData, decoded
from phalanx.lint.values import HOLE, Ref, Unknown


class Subnet(Entity):
    """A subnet; `availabilityZone`, `mapPublicIpOnLaunch`."""

    kind = "subnet"
    name_paths = ("subnetId",)

    @property
    def zone(self) -> str | None:
        """Its zone, or a sign that differs between zones; None when nothing tells them apart."""
        for path in ("availabilityZone", "availabilityZoneId"):
            value = self.raw(path)
            if isinstance(value, Ref):
                return f"{value.address}.{value.attribute}"
            text = self.text(path)
            if text and HOLE not in text:
                return text
        return None


class PlacementGroup(Entity):
    """A placement group; `strategy` is cluster, spread or partition."""

    kind = "placement group"
    name_paths = ("name", "groupName")

    @property
    def is_cluster(self) -> bool:
        """Packs instances together in one zone."""
        return self.text("strategy") == "cluster"


class SecurityGroup(Entity):
    """A security group; its rules are gathered from everywhere in the world."""

    kind = "security group"
    name_paths = ("groupName", "name", "groupId")

    def rules(self, direction: str) -> list[Node]:
        """Rules of a direction (`ingress` or `egress`), own ones and separate resources."""
        own = self.items("securityGroup" + direction.capitalize())
        apart = [
            rule
            for rule in self.world.near(self, SecurityGroupRule)
            if rule.direction == direction
            and self.world.link(rule, rule.raw("groupId"), SecurityGroup) is self
        ]
        return own + [Node(r.data, r.origin, r.base) for r in apart]

    def allows_itself(self, direction: str) -> bool | None:
        """All traffic from or to the group itself is allowed; None when that cannot be known."""
        unsure = isinstance(self.raw("securityGroup" + direction.capitalize()), Unknown)
        for rule in self.rules(direction):
            protocol = rule.text("ipProtocol")
            if protocol not in ("-1", "all", None):
                continue
            if rule.flag("self") is True:
                return True
            peers = [rule.raw(key) for key in _PEERS] + [
                n.raw() for n in rule.items("securityGroups")
            ]
            if any(self.world.link(self, peer, SecurityGroup) is self for peer in peers):
                return True
            unsure = unsure or protocol is None or any(isinstance(p, Unknown) for p in peers)
        return None if unsure else False


_PEERS = ("sourceSecurityGroupId", "destinationSecurityGroupId", "referencedSecurityGroupId")
_WORLD = frozenset({"0.0.0.0/0", "::/0"})


def open_to_world(rule: Node) -> bool:
    """A rule of a security group names every address."""
    single = {rule.text(key) for key in ("cidrIp", "cidrIpv6")}
    several = {*rule.texts("cidrBlocks"), *rule.texts("ipv6CidrBlocks")}
    return bool((single | several) & _WORLD)


def port_range(rule: Node) -> tuple[int, int] | None:
    """First and last port of a rule; all of them for protocol -1; None when unknown."""
    if rule.text("ipProtocol") in ("-1", "all"):
        return 0, 65535
    first, last = rule.number("fromPort"), rule.number("toPort")
    return (int(first), int(last)) if first is not None and last is not None else None


class SecurityGroupRule(Entity):
    """A rule written as a resource of its own; `groupId` is the group it belongs to."""

    kind = "security group rule"
    name_paths = ()

    @cached_property
    def direction(self) -> str:
        """`ingress` or `egress`."""
        return self.text("direction") or "ingress"


class LaunchTemplate(Entity):
    """A launch template (or launch configuration), in the words of LaunchTemplateData."""

    kind = "launch template"
    name_paths = ("launchTemplateName", "name", "launchTemplateId")

    @property
    def instance_type(self) -> str | None:
        """Its one instance type."""
        return self.text("instanceType")

    @property
    def market(self) -> str | None:
        """`spot`, `capacity-block`, ...; None means On-Demand, or unknown."""
        if self.has("spotPrice"):
            return "spot"
        return self.text("instanceMarketOptions.marketType")

    @cached_property
    def user_data(self) -> UserData | None:
        """Its decoded user data; None when missing or unknown."""
        text = self.text("userData")
        plain = decoded(text) if text is not None else None
        return UserData(plain) if plain is not None else None

    @cached_property
    def scaling_groups(self) -> list[ScalingGroup]:
        """Groups that use it."""
        return self.world.pointing_at(self, ScalingGroup, "launch_template")  # type: ignore[return-value]

    @cached_property
    def interfaces(self) -> list[Node]:
        """Its network interfaces."""
        return self.items("networkInterfaces")

    @property
    def efa_interfaces(self) -> int:
        """How many interfaces are `efa` or `efa-only`."""
        return sum((i.text("interfaceType") or "").startswith("efa") for i in self.interfaces)

    @cached_property
    def security_groups(self) -> list[SecurityGroup]:
        """Groups of the template and its interfaces that are in the world."""
        nodes = [self.node("securityGroupIds"), *(i.node("groups") for i in self.interfaces)]
        found = [group for node in nodes for group in self.world.links(self, node, SecurityGroup)]
        return list(dict.fromkeys(found))


class ScalingGroup(Entity):
    """An Auto Scaling group, in the words of CreateAutoScalingGroup."""

    kind = "scaling group"
    name_paths = ("autoScalingGroupName",)

    @property
    def overrides(self) -> list[Node]:
        """Overrides of its mixed instances policy."""
        return self.items("mixedInstancesPolicy.launchTemplate.overrides")

    @cached_property
    def launch_template(self) -> LaunchTemplate | None:
        """Its launch template, if that is in the world."""
        specification = "mixedInstancesPolicy.launchTemplate.launchTemplateSpecification"
        for base in ("launchTemplate", specification):
            for key in ("launchTemplateId", "launchTemplateName"):
                found = self.world.link(self, self.raw(f"{base}.{key}"), LaunchTemplate)
                if found:
                    return found
        return self.world.link(self, self.raw("launchConfigurationName"), LaunchTemplate)

    @cached_property
    def instance_types(self) -> tuple[str, ...]:
        """Types it may launch; empty when that cannot be known."""
        names = [item.text("instanceType") for item in self.overrides]
        if names:
            return tuple(dict.fromkeys(n for n in names if n)) if all(names) else ()
        template = self.launch_template
        return (template.instance_type,) if template and template.instance_type else ()

    @cached_property
    def is_spot(self) -> bool:
        """Its template or its distribution asks for Spot."""
        share = self.number(
            "mixedInstancesPolicy.instancesDistribution.onDemandPercentageAboveBaseCapacity"
        )
        template = self.launch_template
        return (
            (template is not None and template.market == "spot")
            or (share is not None and share < 100)
            or self.has("spotPrice")
        )

    @cached_property
    def capacity_providers(self) -> list[CapacityProvider]:
        """Capacity providers that use it."""
        return self.world.pointing_at(self, CapacityProvider, "scaling_group")  # type: ignore[return-value]

    @cached_property
    def placement_group(self) -> PlacementGroup | None:
        """Its placement group, its own or of its template, if that is in the world."""
        own = self.world.link(self, self.raw("placementGroup"), PlacementGroup)
        template = self.launch_template
        if own or template is None:
            return own
        return self.world.link(template, template.raw("placement.groupName"), PlacementGroup)

    @cached_property
    def subnets(self) -> list[Subnet]:
        """Its subnets that are in the world."""
        return self.world.links(self, self.node("vpcZoneIdentifier"), Subnet)

    @cached_property
    def zones(self) -> tuple[str, ...] | None:
        """Zones it spans, as far as known texts say; None when one of them is unknown."""
        named = self.items("availabilityZones")
        if named:
            texts = [item.text() for item in named]
            return tuple(dict.fromkeys(t for t in texts if t)) if all(texts) else None
        wanted = self.items("vpcZoneIdentifier")
        if not wanted or len(self.subnets) != len(wanted):
            return None
        zones = [subnet.zone for subnet in self.subnets]
        return tuple(dict.fromkeys(z for z in zones if z)) if all(zones) else None


class CapacityProvider(Entity):
    """An ECS capacity provider, of a scaling group or of Managed Instances."""

    kind = "capacity provider"
    name_paths = ("name", "capacityProviderName")

    @property
    def is_managed_instances(self) -> bool:
        """It provides Managed Instances."""
        return self.has("managedInstancesProvider")

    @cached_property
    def scaling_group(self) -> ScalingGroup | None:
        """Its scaling group, if that is in the world."""
        value = self.raw("autoScalingGroupProvider.autoScalingGroupArn")
        return self.world.link(self, value, ScalingGroup)

    @cached_property
    def is_spot(self) -> bool:
        """Its scaling group, or its Managed Instances option, is Spot."""
        group = self.scaling_group
        option = self.text("managedInstancesProvider.instanceLaunchTemplate.capacityOptionType")
        return option == "SPOT" or (group is not None and group.is_spot)

    @cached_property
    def instance_types(self) -> tuple[str, ...]:
        """Types it may launch; empty when that cannot be known."""
        if self.is_managed_instances:
            path = "managedInstancesProvider.instanceLaunchTemplate.instanceRequirements"
            texts = self.texts(f"{path}.allowedInstanceTypes")
            if len(texts) != len(self.items(f"{path}.allowedInstanceTypes")):
                return ()
            return tuple(texts) if not any(re.search(rf"\*|{HOLE}", t) for t in texts) else ()
        return self.scaling_group.instance_types if self.scaling_group else ()
