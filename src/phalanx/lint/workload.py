"""What runs: task definitions, Batch job definitions, compose services, job files; containers."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from phalanx.lint.command import Command
from phalanx.lint.entity import Entity, Node, Scope
from phalanx.lint.nodes import Span, span
from phalanx.lint.pattern import Pattern
from phalanx.lint.place import Origin, Path
from phalanx.lint.values import HOLE

if TYPE_CHECKING:
    from phalanx.lint.capacity import CapacityProvider
    from phalanx.lint.launch import Launcher

_TYPE_PIN = Pattern(
    r"attribute:ecs\.instance-type\s*(==|equals|in)\s*(\[[^\]]*\]|[\w.\-*]+)", re.ASCII
)


class Workload(Entity):
    """Something that runs containers, in the words of RegisterTaskDefinition."""

    kind = "workload"
    flavour = ""
    """`ecs`, `batch`, `compose` or `job`."""

    @cached_property
    def containers(self) -> list[Container]:
        """Its containers; filled by the reader."""
        return []

    @cached_property
    def launch_types(self) -> frozenset[str]:
        """Where it says it may run: EC2, FARGATE, EXTERNAL, MANAGED_INSTANCES; empty: not said."""
        return frozenset(self.texts("requiresCompatibilities"))

    @property
    def network_mode(self) -> str | None:
        """awsvpc, host, bridge, none; None when not said."""
        return self.text("networkMode")

    @cached_property
    def instance_types(self) -> tuple[str, ...]:
        """The only instance types it can land on, as far as the files say; empty: any."""
        return self._pinned() or self._from_capacity()

    def _pinned(self) -> tuple[str, ...]:
        for constraint in self.items("placementConstraints"):
            types = pinned_types(constraint.text("expression") or "")
            if types:
                return types
        return ()

    def _from_capacity(self) -> tuple[str, ...]:
        providers = [p for launcher in self.launchers for p in launcher.capacity_providers]
        named = [len(launcher.strategy) for launcher in self.launchers]
        if not providers or sum(named) != len(providers):
            return ()
        types: list[str] = []
        for provider in providers:
            if not provider.instance_types:
                return ()
            types.extend(t for t in provider.instance_types if t not in types)
        return tuple(types)

    @cached_property
    def launchers(self) -> list[Launcher]:
        """Services, RunTask inputs and event rules that start it."""
        from phalanx.lint.launch import Launcher

        return self.world.pointing_at(self, Launcher, "workload")  # type: ignore[return-value]

    @property
    def providers(self) -> list[CapacityProvider]:
        """Capacity providers that its launchers name and that are in the world."""
        return [p for launcher in self.launchers for p in launcher.capacity_providers]

    @cached_property
    def is_accelerated(self) -> bool:
        """Some container asks for, or maps, a GPU or a Neuron device."""
        return any(c.is_accelerated for c in self.containers)

    @cached_property
    def nodes(self) -> int | None:
        """Most nodes that one run spans, where a number says so; None: not said."""
        return max((most for _, most in self._spans), default=None)

    @property
    def least_nodes(self) -> int | None:
        """Nodes without which a run does not start; fewer than `nodes` for an elastic one."""
        return max((least for least, _ in self._spans), default=self.nodes)

    @cached_property
    def _spans(self) -> list[Span]:
        return [found for c in self.containers if (found := span(c))]

    @property
    def is_multi_node(self) -> bool:
        """A number says that more than one node takes part in a run."""
        return (self.nodes or 0) > 1

    @cached_property
    def is_spot(self) -> bool:
        """Its capacity, a tag or a parameter says Spot."""
        if any(provider.is_spot for provider in self.providers):
            return True
        tags = [(n.text("key") or n.text("name"), n.text("value")) for n in self.items("tags")]
        tags += [(key, node.text()) for key, node in self.members("tags")]
        tags += [(key, node.text()) for key, node in self.members("parameters")]
        return any(says_spot(v or "") for k, v in tags if k and _CAPACITY_WORD.search(k))


_CAPACITY_WORD = Pattern(r"capacity|market|lifecycle|purchas|spot|queue", re.IGNORECASE)
_SPOT = Pattern(
    r"(?<![a-z0-9])(?<!no[-_ ])(?<!non[-_ ])(?<!not[-_ ])spot(?![a-z0-9])", re.IGNORECASE
)


class TaskDefinition(Workload):
    """RegisterTaskDefinition, `AWS::ECS::TaskDefinition`, `aws_ecs_task_definition`."""

    kind = "task definition"
    flavour = "ecs"
    name_paths = ("family",)

    @cached_property
    def memory_mib(self) -> float | None:
        """Memory of the task in MiB, also from `16 GB`."""
        return _sized(self.text("memory"), 1.0, "gb", 1024.0)

    @cached_property
    def cpu_units(self) -> float | None:
        """CPU of the task in units of 1/1024, also from `4 vCPU`."""
        return _sized(self.text("cpu"), 1.0, "vcpu", 1024.0)


class JobDefinition(Workload):
    """A Batch job definition; `containers` holds one entry per container or node range."""

    kind = "Batch job definition"
    flavour = "batch"
    name_paths = ("jobDefinitionName",)

    @property
    def is_multinode(self) -> bool:
        """It is a multi-node parallel job."""
        return self.text("type") == "multinode" or self.has("nodeProperties")

    @cached_property
    def launch_types(self) -> frozenset[str]:
        """FARGATE or EC2, from `platformCapabilities`."""
        return frozenset(self.texts("platformCapabilities"))

    @cached_property
    def nodes(self) -> int | None:
        """`numNodes`, else what its command says."""
        n = self.number("nodeProperties.numNodes")
        return int(n) if n else max((most for _, most in self._spans), default=None)

    def _pinned(self) -> tuple[str, ...]:
        types = [c.text("instanceType") for c in self.containers]
        return tuple(dict.fromkeys(t for t in types if t and "." in t))


class ComposeService(Workload):
    """One service of a compose file; its one container is in task definition words."""

    kind = "compose service"
    flavour = "compose"


class JobFile(Workload):
    """A job file of ours. `text("resources.accelerator")` and so on read its own words."""

    kind = "job file"
    flavour = "job"

    @cached_property
    def nodes(self) -> int | None:
        """`nodes`, or its upper bound."""
        n = self.number("nodes") or self.number("nodes.max") or self.number("nodes.min")
        return int(n) if n else None

    @cached_property
    def is_spot(self) -> bool:
        """`target.capacity.market` is spot."""
        return self.text("target.capacity.market") == "spot"


class Device(Node):
    """One host device that a container maps."""

    @property
    def host_path(self) -> str:
        """`/dev/neuron0`; empty when unknown."""
        return self.text("hostPath") or ""


class Container(Entity):
    """One container, in the words of ContainerDefinition, whatever the file."""

    kind = "container"

    def __init__(
        self, data: Any, origin: Origin, base: Path, workload: Workload, scope: Scope
    ) -> None:
        super().__init__(data, origin, base, scope=scope)
        self.workload = workload

    @cached_property
    def gpus(self) -> float | None:
        """GPUs asked for by count; 0 when none is asked for; None when it cannot be known."""
        if not self.has("resourceRequirements"):
            return 0.0
        if not isinstance(self.raw("resourceRequirements"), list):
            return None
        found = [r for r in self.items("resourceRequirements") if r.text("type") in (None, "GPU")]
        if not found:
            return 0.0
        if any(r.text("type") is None for r in found):
            return None
        return found[0].number("value")

    @cached_property
    def wants_gpu(self) -> bool:
        """It has a GPU requirement, of whatever form (count, `ALL`, sharing)."""
        return any(r.text("type") == "GPU" for r in self.items("resourceRequirements"))

    @cached_property
    def wants_neuron(self) -> bool:
        """It has a `NeuronDevice` requirement."""
        return any(r.text("type") == "NeuronDevice" for r in self.items("resourceRequirements"))

    @cached_property
    def devices(self) -> list[Device]:
        """Host devices that it maps."""
        nodes = self.items("linuxParameters.devices")
        return [Device(n.data, n.origin, n.base) for n in nodes]

    def maps(self, prefix: str) -> bool:
        """Some mapped host device starts with `prefix`."""
        return any(d.host_path.startswith(prefix) for d in self.devices)

    @property
    def devices_known(self) -> bool:
        """False when the list of devices, or one of them, cannot be known."""
        raw = self.raw("linuxParameters.devices")
        if raw is None:
            return not self.has("linuxParameters.devices")
        return isinstance(raw, list) and all(
            d.host_path and HOLE not in d.host_path for d in self.devices
        )

    @cached_property
    def is_accelerated(self) -> bool:
        """It asks for, or maps, a GPU or a Neuron device."""
        mapped = self.maps("/dev/nvidia") or self.maps("/dev/neuron")
        return self.wants_gpu or self.wants_neuron or mapped

    @cached_property
    def environment(self) -> Environment:
        """Its plain environment."""
        node = self.node("environment")
        return Environment(node.data, node.origin, node.base, container=self, scope=self.scope)

    @cached_property
    def command(self) -> Command:
        """Entry point and command together, as the kernel or a shell sees them."""
        return Command(self.node("entryPoint"), self.node("command"))

    @property
    def is_privileged(self) -> bool:
        """`privileged: true`."""
        return self.flag("privileged") is True

    @cached_property
    def memory_mib(self) -> float | None:
        """Hard limit in MiB; for Batch, of the MEMORY requirement."""
        for need in self.items("resourceRequirements"):
            if need.text("type") == "MEMORY":
                return need.number("value")
        return self.number("memory")

    @cached_property
    def is_server(self) -> bool:
        """It offers a port."""
        return bool(self.items("portMappings"))

    @cached_property
    def instance_types(self) -> tuple[str, ...]:
        """The only types it can land on; empty: any."""
        own = self.text("instanceType")
        if own and "." in own:
            return (own,)
        return self.workload.instance_types


class Variable(Node):
    """One environment variable; `path` below the environment is `[n]` or its name."""

    def __init__(self, key: str, node: Node, value: Node) -> None:
        super().__init__(node.data, node.origin, node.base)
        self.key = key
        self.value = value

    @property
    def content(self) -> str | None:
        """Its value; None when unknown."""
        return self.value.text()


class Environment(Entity):
    """Plain environment variables: of a container, or a loose list in a Terraform local."""

    kind = "environment"

    def __init__(
        self,
        data: Any,
        origin: Origin,
        base: Path,
        *,
        container: Container | None = None,
        scope: Scope = ("", 0),
    ) -> None:
        super().__init__(data, origin, base, scope=scope)
        self.container = container

    @cached_property
    def variables(self) -> list[Variable]:
        """Those with a known name, whether written as a list or as a map."""
        out: list[Variable] = []
        if isinstance(self.data, dict):
            out = [Variable(key, node, node) for key, node in self.members()]
        for item in self.items():
            key = item.text("name")
            if key:
                out.append(Variable(key, item, item.node("value")))
        return out

    @cached_property
    def _by_name(self) -> dict[str, Variable]:
        return {v.key: v for v in self.variables}

    @property
    def is_known(self) -> bool:
        """False when some variables cannot be known, so that none is certainly missing."""
        if isinstance(self.data, (dict, type(None))):
            return True
        return isinstance(self.data, list) and len(self.variables) == len(self.data)

    def get(self, key: str) -> Variable | None:
        """The variable of that name."""
        return self._by_name.get(key)

    def content(self, key: str) -> str | None:
        """The value of a variable; None when it is missing or unknown."""
        variable = self._by_name.get(key)
        return variable.content if variable else None

    def number(self, path: str = "") -> float | None:
        """The value of a variable as a number."""
        variable = self._by_name.get(path)
        return variable.value.number() if variable else None


def says_spot(name: str) -> bool:
    """`spot` is a word of a name (`gpu-spot`), and is not denied there."""
    return bool(_SPOT.search(name))


def pinned_types(expression: str) -> tuple[str, ...]:
    """Instance types that a placement expression allows; empty when it does not pin them."""
    if "||" in expression or " or " in expression or "!" in expression:
        return ()
    match = _TYPE_PIN.search(expression)
    if not match or HOLE in expression:
        return ()
    names = [name.strip() for name in match[2].strip("[]").split(",")]
    return tuple(n for n in names if n) if all("*" not in n for n in names) else ()


def _sized(text: str | None, unit: float, suffix: str, factor: float) -> float | None:
    if text is None or HOLE in text:
        return None
    plain = text.strip().lower().replace(" ", "")
    if plain.endswith(suffix):
        plain, unit = plain[: -len(suffix)], factor
    try:
        return float(plain) * unit
    except ValueError:
        return None
