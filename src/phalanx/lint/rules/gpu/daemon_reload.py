"""GPUs lost after a daemon reload."""

from __future__ import annotations

import re

from phalanx.lint.capacity import LaunchTemplate
from phalanx.lint.hosts import template_types
from phalanx.lint.pattern import Pattern
from phalanx.lint.rule import Found, Hit, rule
from phalanx.lint.world import World

_RELOAD = Pattern(r"systemctl\s+(?:--\S+\s+)*daemon-re(?:load|exec)")
_LATER = Pattern(r"cron\.|/etc/cron|crontab|OnCalendar|OnUnitActiveSec|dnf-automatic|yum-cron")
_CURED = Pattern(r"create-dev-char-symlinks|cgroupdriver=cgroupfs")


@rule(
    id="GPU012",
    slug="gpu-lost-after-daemon-reload",
    severity="warning",
    areas=("gpu",),
    on=LaunchTemplate,
    message="A daemon reload while containers run takes their GPUs away",
    why="With systemd cgroups a reload rewrites the device rules of running containers; without "
    "the /dev/char links of the NVIDIA devices they lose their cards (NVML: Unknown Error).",
    fix="Reload only before the agent starts; otherwise run nvidia-ctk system "
    "create-dev-char-symlinks --create-all at boot, or let Docker use the cgroupfs driver.",
    sources=(("https://github.com/NVIDIA/nvidia-container-toolkit/issues/48", "undated"),),
    facts=("CMP-23",),
)
def gpu_lost_after_daemon_reload(template: LaunchTemplate, world: World) -> Found:
    """Timers that reload or update later are warnings; a reload after the agent's start too."""
    rows, data = template_types(template), template.user_data
    if data is None or not rows or not any(row.gpus for row in rows):
        return
    text = "\n".join(line for line in data.text.splitlines() if not line.lstrip().startswith("#"))
    if _CURED.search(text):
        return
    reload = _RELOAD.search(text)
    started = re.search(r"systemctl\s+\S*\s*(?:start|restart|--now)\S*\s+.*\becs\b", text)
    if _LATER.search(text) and (reload or re.search(r"dnf-automatic|yum-cron", text)):
        yield Hit(template, "userData", "Something on a timer reloads systemd under running tasks")
    elif reload and started and reload.start() > started.start():
        yield Hit(template, "userData", "systemd is reloaded after the agent was started")
