"""One table: what stands in a job file → the exact line that refuses it."""

# ruff: noqa: E501
from __future__ import annotations

import pytest

from phalanx.errors import SpecError
from phalanx.spec.load import load

JOB = "kind: train\nname: a\ncommand: [python, t.py]\n"

LINES = [
    (
        JOB + "gpus: 2\n",
        ":4:1: a job file has no field 'gpus' (did you mean resources.accelerator?)",
    ),
    (JOB + "workers: 4\n", ":4:1: a job file has no field 'workers' (did you mean nodes?)"),
    (
        JOB + "environment: {A: b}\n",
        ":4:1: a job file has no field 'environment' (did you mean env?)",
    ),
    (
        "kind: train\nname: a\nentrypoint: x\n",
        ":3:1: a job file has no field 'entrypoint' (did you mean command?)",
    ),
    (
        JOB + "memory: 2GiB\n",
        ":4:1: a job file has no field 'memory' (did you mean resources.memory?)",
    ),
    (
        JOB + "resources: {gpus: 2}\n",
        ":4:13: resources has no field 'gpus' (did you mean resources.accelerator?)",
    ),
    (
        JOB + "resources:\n  memori: 2GiB\n",
        ":5:3: resources has no field 'memori' (did you mean memory?)",
    ),
    (
        JOB + "zzz: 1\n",
        ":4:1: a job file has no field 'zzz' (its fields are kind, name, image, command, source, launcher, nodes, ranks_per_node, resources, env, secrets, working_directory, exclude, total_steps, checkpoint, hang, stop, elastic, restart, restart_scope, warm, limits, notify, init_from, evidence, target)",
    ),
    (
        JOB + "checkpoint: {evry: 1}\n",
        ":4:14: checkpoint has no field 'evry' (did you mean every?)",
    ),
    (
        "kind: train\nname: a\ncommand: python train.py --steps 2000\n",
        ':3:10: command must be a list of words, not one text (write [python, train.py, --steps, "2000"])',
    ),
    (
        "kind: train\nname: a\ncommand: cd x && python train.py\n",
        ':3:10: command must be a list of words, not one text (write [bash, -c, "cd x && python train.py"])',
    ),
    ("kind: train\nname: a\n", ":1:1: command is missing (write command: [python, train.py])"),
    ("kind: train\ncommand: [a]\n", ":1:1: name is missing (write name: my-job)"),
    ("kind: serve\n", ":1:7: kind serve comes with a later release (this release runs kind train)"),
    ("kind: tran\n", ":1:7: kind cannot be 'tran' (did you mean train?)"),
    ("kind: 3\n", ":1:7: kind cannot be 3 (this release runs kind train)"),
    (
        JOB + "stop: {grace: 90}\n",
        ":4:15: stop.grace needs a unit (write 90s for seconds or 90m for minutes)",
    ),
    (
        JOB + "stop: {grace: '90'}\n",
        ":4:15: stop.grace needs a unit (write 90s for seconds or 90m for minutes)",
    ),
    (
        JOB + "stop: {grace: 90 seconds}\n",
        ":4:15: stop.grace is not a duration: '90 seconds' (write 90s, 10m, 24h or 1h30m)",
    ),
    (
        JOB + "stop: {grace: 0s}\n",
        ":4:15: stop.grace must be longer than 0 (write 90s, 10m, 24h or 1h30m)",
    ),
    (JOB + "stop: 90s\n", ":4:7: stop must be a mapping, not '90s' (its fields are grace)"),
    (JOB + "nodes: 0\n", ":4:8: nodes must be at least 1, not 0"),
    (
        JOB + "nodes: {min: 4, max: 2}\n",
        ":4:17: nodes.max must be at least nodes.min (write nodes: {min: 2, max: 4})",
    ),
    (JOB + "nodes: {min: 4}\n", ":4:8: nodes.max is missing (write nodes: {min: 2, max: 4})"),
    (
        JOB + "nodes: two\n",
        ":4:8: nodes must be a whole number, not 'two' (write 4 or {min: 2, max: 4})",
    ),
    (
        JOB + "nodes: '2'\n",
        ":4:8: nodes must be a whole number, not '2' (write 4 or {min: 2, max: 4})",
    ),
    (
        JOB + "nodes: 2.5\n",
        ":4:8: nodes must be a whole number, not 2.5 (write 4 or {min: 2, max: 4})",
    ),
    (JOB + "nodes: {min: 0, max: 9}\n", ":4:14: nodes.min must be at least 1, not 0"),
    (
        JOB + "ranks_per_node: many\n",
        ":4:17: ranks_per_node must be auto or a whole number, not 'many'",
    ),
    (
        JOB + "resources: {accelerator: 8}\n",
        ":4:26: resources.accelerator needs a kind (write gpu:8)",
    ),
    (
        JOB + "resources: {accelerator: 'H100:x'}\n",
        ":4:26: resources.accelerator is not an accelerator: 'H100:x' (write H100:8, gpu:2 or cpu)",
    ),
    (
        JOB + "resources: {accelerator: 'cpu:2'}\n",
        ":4:26: resources.accelerator takes no number with cpu (the field resources.cpus does)",
    ),
    (
        JOB + "resources: {memory: 8GB}\n",
        ":4:21: resources.memory is not a size: '8GB' (write 8GiB)",
    ),
    (JOB + "resources: {memory: 8}\n", ":4:21: resources.memory needs a unit (write 8GiB or 8MiB)"),
    (JOB + "resources: {cpus: two}\n", ":4:19: resources.cpus must be a number, not 'two'"),
    (JOB + "resources: {cpus: -1}\n", ":4:19: resources.cpus must be more than 0, not -1"),
    (JOB + "resources: {cpus: .inf}\n", ":4:19: resources.cpus must be a number, not '.inf'"),
    (JOB + "resources: {efa: maybe}\n", ":4:18: resources.efa must be true or false, not 'maybe'"),
    (JOB + "env: {A: 1.10}\n", ":4:10: env.A must be text, not a number (put it in quotes)"),
    (JOB + "env: {A: true}\n", ":4:10: env.A must be text, not true or false (put it in quotes)"),
    (JOB + "env: [A=1]\n", ":4:6: env must be a mapping of names, not a list (write NAME: text)"),
    (JOB + "env: {RANK: '1'}\n", ":4:7: phalanx sets RANK itself (remove it)"),
    (JOB + "env: {A-B: x}\n", ":4:7: 'A-B' is no name of an environment variable"),
    (JOB + "env: {A: null}\n", ":4:10: env.A must be text, not nothing (put it in quotes)"),
    (
        JOB + "secrets: {A: hunter2}\n",
        ":4:14: secrets.A must name where the secret is kept, not text (write {env: NAME}, {ssm: name} or {secretsmanager: arn})",
    ),
    (
        JOB + "secrets: {A: {env: X, ssm: Y}}\n",
        ":4:14: secrets.A needs exactly one of env, ssm or secretsmanager",
    ),
    (
        JOB + "secrets: {A: {vault: Y}}\n",
        ":4:15: secrets.A has no field 'vault' (its fields are env, ssm, secretsmanager)",
    ),
    (
        JOB + "env: {A: x}\nsecrets: {A: {env: A}}\n",
        ":5:11: A is given in env and in secrets (keep one)",
    ),
    (
        JOB + "launcher: deepspeed\n",
        ":4:11: launcher 'deepspeed' comes with a later release (this release knows ranks, torchrun, none)",
    ),
    (JOB + "launcher: torchrn\n", ":4:11: launcher cannot be 'torchrn' (did you mean torchrun?)"),
    (JOB + "launcher: [a]\n", ":4:11: launcher must be one of ranks, torchrun, none, not a list"),
    (
        JOB + "launcher: none\nranks_per_node: 2\n",
        ":5:1: ranks_per_node must be 1 with launcher none (launcher ranks starts several)",
    ),
    (
        JOB + "checkpoint: {every: 0}\n",
        ':4:21: checkpoint.every must be at least 1 step (write auto, "100 steps" or 10m)',
    ),
    (
        JOB + "checkpoint: {every: often}\n",
        ":4:21: checkpoint.every is neither auto, steps nor a duration: 'often' (write auto, \"100 steps\" or 10m)",
    ),
    (
        JOB + "checkpoint: {every: 10 min}\n",
        ":4:21: checkpoint.every is neither auto, steps nor a duration: '10 min' (write auto, \"100 steps\" or 10m)",
    ),
    (
        JOB + "checkpoint: {mode: watch}\n",
        ":4:13: mode watch needs checkpoint.dir (write dir: ./out)",
    ),
    (
        JOB + "checkpoint: {dir: x}\n",
        ":4:14: checkpoint.dir is for mode watch only (add mode: watch, or remove it)",
    ),
    (
        JOB + "checkpoint: {mode: watch, dir: /data/out}\n",
        ":4:27: checkpoint.dir must be a folder inside the working directory (write dir: ./out)",
    ),
    (
        JOB + "checkpoint: {mode: watch, dir: ../out}\n",
        ":4:27: checkpoint.dir must be a folder inside the working directory (write dir: ./out)",
    ),
    (
        JOB + "checkpoint: {mode: watch, dir: out, every: 10}\n",
        ":4:37: checkpoint.every is for mode api: in mode watch the script decides when it saves"
        " (remove it)",
    ),
    (JOB + "checkpoint: {keep: 0}\n", ":4:20: checkpoint.keep must be at least 1, not 0"),
    (
        JOB + "restart:\n  - {on: [OOM], do: fail}\n",
        ":5:11: restart[0].on[0]: 'OOM' is not a failure class (did you mean OutOfMemory?)",
    ),
    (
        JOB + "restart:\n  - {on: [hostlost]}\n",
        ":5:11: restart[0].on[0]: 'hostlost' is not a failure class (did you mean HostLost?)",
    ),
    (
        JOB + "restart:\n  - {on: HostLost}\n",
        ":5:10: restart[0].on must be a list (write [HostLost])",
    ),
    (
        JOB + "restart:\n  - {on: []}\n",
        ":5:10: restart[0].on must not be empty (write on: [HostLost])",
    ),
    (JOB + "restart:\n  - {do: fail}\n", ":5:5: restart[0].on is missing (write on: [HostLost])"),
    (JOB + "restart: {on: [Hang]}\n", ":4:10: restart must be a list, not a mapping"),
    (
        JOB + "restart:\n  - {on: [Hang]}\n  - {on: [Killed, Hang]}\n",
        ":6:19: Hang is decided by restart[0] already (name each class once)",
    ),
    (
        JOB + "restart:\n  - {on: [Hang], do: fail, limit: 2}\n",
        ":5:28: restart[0].limit has no meaning with do: fail (remove it)",
    ),
    (
        JOB + "restart:\n  - {on: [NoProgress]}\n",
        ":5:11: nothing restarts after NoProgress (remove it)",
    ),
    (
        JOB + "restart:\n  - {on: [Hang], do: retry}\n",
        ":5:22: restart[0].do cannot be 'retry' (one of restart, fail)",
    ),
    (
        JOB + "restart:\n  - Hang\n",
        ":5:5: restart[0] must be a mapping, not 'Hang' (its fields are on, do, limit, counted)",
    ),
    (JOB + "restart: 3\n", ":4:10: restart must be a list, not 3"),
    (
        JOB + "working_directory: ../x\n",
        ":4:20: working_directory must not lead out of the source folder",
    ),
    (JOB + "warm: torch\n", ":4:7: warm must be a list (write [torch])"),
    (
        JOB + "warm: [my-mod]\n",
        ":4:8: warm[0] is not a module name: 'my-mod' (write torch or my.module)",
    ),
    (JOB + "total_steps: 1e3\n", ":4:14: total_steps must be a whole number, not '1e3'"),
    (JOB + "total_steps: -1\n", ":4:14: total_steps must be at least 1, not -1"),
    (
        JOB + "target: ecs\n",
        ":4:9: target must be a mapping, not 'ecs' (its fields are kind, cluster, capacity)",
    ),
    (
        JOB + "target: {kind: kubernetes}\n",
        ":4:16: target.kind cannot be 'kubernetes' (one of local, ecs, batch, ray)",
    ),
    (
        JOB + "notify: [{}]\n",
        ":4:10: notify[0] needs exactly one of webhook, command or sns",
    ),
    (
        JOB + "notify: [{webhook: 'ftp://x.test/secret'}]\n",
        ":4:20: notify[0].webhook must begin with https:// or http://",
    ),
    (
        JOB + "notify: [{webhook: 'https://me:secret@x.test/'}]\n",
        ":4:20: notify[0].webhook must not hold a user's name (use a URL with a token in its path)",
    ),
    (
        JOB + "notify: [{webhook: 'https:///secret'}]\n",
        ":4:20: notify[0].webhook is no URL that a message can be sent to (write https://host/path)",
    ),
    (
        JOB + "notify: [{command: tell me}]\n",
        ":4:20: notify[0].command must be a list of words, not one text (write [tell, me])",
    ),
    (
        JOB + "notify: [{command: [tell], on: [ended], waiting_longer_than: 5m}]\n",
        ":4:41: notify[0].waiting_longer_than goes with waiting among notify's events"
        " (add waiting to on)",
    ),
    (
        JOB + "init_from: gpt-1\n",
        ":4:12: init_from must be a mapping, not 'gpt-1' (its fields are job, step, weights, take)",
    ),
    (
        JOB + "limits: {max_runtime: 24}\n",
        ":4:23: limits.max_runtime needs a unit (write 24s for seconds or 24m for minutes)",
    ),
    (
        "kind: train\nname: My Job\ncommand: [a]\n",
        ":2:7: name must be lower-case letters, digits and single hyphens: 'My Job' (for example my-job)",
    ),
    (
        "kind: train\nname: list\ncommand: [a]\n",
        ":2:7: the name 'list' is a word of `phalanx checkpoints` (choose another name)",
    ),
    (
        "kind: train\nname: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\ncommand: [a]\n",
        ":2:7: name has 41 characters, at most 40 are allowed (write name: my-job)",
    ),
    (
        "kind: train\nname: 3\ncommand: [a]\n",
        ":2:7: name must be text, not a number (put it in quotes)",
    ),
    (
        "kind: train\nname: a\ncommand: []\n",
        ":3:10: command must not be empty (write command: [python, train.py])",
    ),
    (
        "kind: train\nname: a\ncommand: ['']\n",
        ":3:11: command[0] must name a program (write [python, train.py])",
    ),
    (
        "kind: train\nname: a\ncommand: [a, 1.5]\n",
        ":3:14: command[1] must be text, not a number (put it in quotes)",
    ),
    (
        "kind: train\nname: a\ncommand: [a, [b]]\n",
        ":3:14: command[1] must be text, not a list (put it in quotes)",
    ),
    ("kind: train\nname: a\ncommand: {a: b}\n", ":3:10: command must be a list, not a mapping"),
    (
        "kind: train\nkind: train\n",
        ":2:1: 'kind' is given twice, first at line 1, column 1 (keep one of them)",
    ),
    (
        JOB + "restart: [null]\n",
        ":4:11: restart[0] must be a mapping, not nothing (its fields are on, do, limit, counted)",
    ),
    (
        JOB + "hang: {after: 0.5}\n",
        ":4:15: hang.after needs a unit (write 0.5s for seconds or 0.5m for minutes)",
    ),
    (
        JOB + "hang: {after: 1s 5}\n",
        ":4:15: hang.after is not a duration: '1s 5' (write 90s, 10m, 24h or 1h30m)",
    ),
    (
        JOB + "resources: {memory: 0.5KiB}\n",
        ":4:21: resources.memory must be whole MiB, at least 1MiB (write 512MiB or 64GiB)",
    ),
    (
        JOB + "resources: {accelerator: 'gpu:0'}\n",
        ":4:26: resources.accelerator must ask for 1 to 4096 of them on each node, or write cpu",
    ),
    (
        JOB + "limits: {max_runtime: 9999d}\n",
        ":4:23: limits.max_runtime is longer than ten years (write 90s, 10m, 24h or 1h30m)",
    ),
    (JOB + "env: {PHALANX_JOB: x}\n", ":4:7: phalanx sets PHALANX_JOB itself (remove it)"),
    (JOB + 'source: ""\n', ":4:9: source must not be empty"),
    (JOB + "image: 3\n", ":4:8: image must be text, not a number (put it in quotes)"),
    (JOB + 'image: "a\\0b"\n', ":4:8: image holds a NUL character"),
    (JOB + "restart_scope: node\n", ":4:16: restart_scope cannot be 'node' (one of slot, gang)"),
    (JOB + "exclude: '*.pt'\n", ':4:10: exclude must be a list (write ["*.pt"])'),
    (
        JOB + "notify: [{command: [a], on: [done]}]\n",
        ":4:30: notify[0].on[0] cannot be 'done' (one of ended, failed, waiting, restarted, limit)",
    ),
    (
        JOB + "init_from: {job: a, weights: b}\n",
        ":4:12: init_from takes either job or weights, not both",
    ),
    (JOB + "init_from: {take: all}\n", ":4:12: init_from needs either job or weights"),
    (JOB + "init_from: {weights: b, step: 1}\n", ":4:25: init_from.step goes with init_from.job"),
    (
        JOB + "init_from: {weights: b, take: all}\n",
        ":4:25: init_from.take goes with init_from.job (remove it)",
    ),
    (
        JOB + "target: {capacity: {market: sport}}\n",
        ":4:29: target.capacity.market cannot be 'sport' (did you mean spot?)",
    ),
    (
        JOB + "elastic: {hold: batch}\n",
        ":4:17: elastic.hold cannot be 'batch' (one of global_batch)",
    ),
    (
        'kind: train\nname: a\ncommand: "python \'x"\n',
        ":3:10: command must be a list of words, not one text (write [python, train.py])",
    ),
    (JOB + "resources: {efa: 1}\n", ":4:18: resources.efa must be true or false, not 1"),
    (JOB + "ranks_per_node: 0\n", ":4:17: ranks_per_node must be between 1 and 4096"),
    (JOB + "nodes: 99999\n", ":4:8: nodes must be at most 4096, not 99999"),
    (
        JOB + "restart: [{on: [Hang], limit: 0}]\n",
        ":4:31: restart[0].limit must be at least 1, not 0",
    ),
    (
        JOB + "checkpoint: {every: -2 steps}\n",
        ':4:21: checkpoint.every must be at least 1 step (write auto, "100 steps" or 10m)',
    ),
    (
        JOB + "checkpoint: {every: -2s}\n",
        ':4:21: checkpoint.every must be longer than 0 (write auto, "100 steps" or 10m)',
    ),
    (
        JOB + "checkpoint: {every: 10000000000000}\n",
        ':4:21: checkpoint.every must be at most 1000000000000 steps (write auto, "100 steps" or 10m)',
    ),
    (
        JOB + "limits: {max_waiting: -1}\n",
        ":4:23: limits.max_waiting must be longer than 0 (write 90s, 10m, 24h or 1h30m)",
    ),
    (
        JOB + "resources: {accelerator: 0}\n",
        ":4:26: resources.accelerator needs a kind (write H100:8, gpu:2 or cpu)",
    ),
    (
        JOB + "resources: {memory: -1}\n",
        ":4:21: resources.memory must be whole MiB, at least 1MiB (write 512MiB or 64GiB)",
    ),
    (JOB + "resources: {memory: 1.5}\n", ":4:21: resources.memory needs a unit (write 1.5GiB)"),
    (
        JOB + "notify: [{command: [a], on: []}]\n",
        ":4:29: notify[0].on must not be empty (write on: [failed])",
    ),
    (
        "kind: train\nname: List\ncommand: [a]\n",
        ":2:7: name must be lower-case letters, digits and single hyphens: 'List' (for example my-job)",
    ),
    (
        JOB + "x-all: &all {A: b}\nenv: *all\n",
        ":4:1: a job file has no field 'x-all' (put an anchor (&name) on the field that uses the value first)",
    ),
    (
        JOB + "image: &i img\nnodes: *i\n",
        ":5:8: nodes must be a whole number, not 'img' (write 4 or {min: 2, max: 4})",
    ),
    (
        JOB + "env: &e {A: b}\nresources: {<<: *e}\n",
        ":5:13: resources has no field 'A' (its fields are accelerator, cpus, memory, efa, shared_memory)",
    ),
    (
        JOB + "checkpoint: {every: 1.5}\n",
        ':4:21: checkpoint.every is neither auto, steps nor a duration: 1.5 (write auto, "100 steps" or 10m)',
    ),
]


@pytest.mark.parametrize(("text", "line"), LINES, ids=range(len(LINES)))
def test_refusal(text: str, line: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(text)
    assert caught.value.line() == f"job.yaml{line}"
    assert caught.value.exit_code == 2


def test_the_first_wrong_field_of_the_file_is_told() -> None:
    text = JOB + "stop: {grace: 9}\nnodes: 0\ngpus: 1\n"
    with pytest.raises(SpecError, match=r"stop\.grace needs a unit"):
        load(text)


def test_an_unknown_field_comes_before_a_missing_one() -> None:
    with pytest.raises(SpecError, match="no field 'comand'") as caught:
        load("kind: train\nname: a\ncomand: [a]\n")
    assert caught.value.hint == "did you mean command?"


def test_secret_text_is_not_shown() -> None:
    for field in (
        "secrets: hunter2",
        "secrets: {A: hunter2}",
        "secrets: {A: {env: [hunter2]}}",
        "secrets: [hunter2]",
        "env: hunter2",
        "env: {A: [hunter2]}",
        "env: {A: {B: hunter2}}",
        "notify: [{webhook: [hunter2]}]",
        "notify: [hunter2]",
        "notify: [{webhook: hunter2, sns: hunter2}]",
    ):
        with pytest.raises(SpecError) as caught:
            load(f"{JOB}{field}\n")
        assert "hunter2" not in caught.value.line()
