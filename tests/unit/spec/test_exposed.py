"""Secrets written down in a job file are refused at their place, and never shown."""

from __future__ import annotations

import pytest

from phalanx.errors import InputError
from phalanx.spec.load import load

HF = "hf_" + "Ab1" * 8
HEAD = "kind: train\nname: mine\n"
PLAIN = "command: [python, train.py]\n"

REFUSED = {
    f"env: {{FOO: {HF}}}": (4, "env.FOO is a Hugging Face token", HF),
    "env: {WANDB_API_KEY: 0badc0de99}": (4, "env.WANDB_API_KEY is a secret, by its name", "0badc"),
    "env: {URL: 'pg://me:hunter2@db/x'}": (4, "env.URL is a login", "hunter2"),
    f"init_from: {{weights: 'https://{HF}@host/w'}}": (4, "init_from.weights is", HF),
    f"image: 'x/y:{HF}'": (4, "image is a Hugging Face token", HF),
}
COMMANDS = {
    f"[python, t.py, --x, {HF}]": ("command[3] is a Hugging Face token", HF),
    "[python, t.py, --db-password, hunter2]": ("command[3] is a secret after --db-pass", "hunter2"),
    "[python, t.py, --api-key=s3cr3tvalue]": ("command[2] is a secret", "s3cr3t"),
    "[env, MY_TOKEN=s3cr3tvalue1, python]": ("command[1] is a secret", "s3cr3t"),
}
HARMLESS = [
    "env: {EOS_TOKEN: endoftext123, TOKENIZERS_PARALLELISM: 'false', API_KEY: changeme}",
    "env: {HF_TOKEN_PATH: /run/secrets/token, CREDENTIALS: /etc/credentials.json, PASSWORD: ''}",
    "secrets: {HF_TOKEN: {env: HF_TOKEN}}",
    "notify: [{webhook: 'https://hooks.slack.com/services/T000000/B000000/abcdefgh'}]",
]
HARMLESS_COMMANDS = [
    "[python, t.py, --max-tokens, '123456789', --pad-token, '<pad>']",
    "[python, t.py, --token, $HF_TOKEN]",
    "[bash, -c, 'python t.py --token $HF_TOKEN']",
    "[python, t.py, --token-file, /run/secrets/one, --password, --verbose]",
]


@pytest.mark.parametrize("extra", REFUSED)
def test_a_secret_is_refused_at_its_place(extra: str) -> None:
    row, said, value = REFUSED[extra]
    with pytest.raises(InputError) as caught:
        load(HEAD + PLAIN + extra + "\n")
    line = caught.value.line()
    assert line.startswith(f"job.yaml:{row}:")
    assert said in line
    assert "would stand in the job's record (write secrets: {" in line
    assert value not in line


@pytest.mark.parametrize("command", COMMANDS)
def test_a_secret_on_the_command_line_is_refused(command: str) -> None:
    said, value = COMMANDS[command]
    for words in ((HEAD + f"command: {command}\n", []), (HEAD + PLAIN, [f"command={command}"])):
        with pytest.raises(InputError) as caught:
            load(words[0], sets=words[1])
        assert value not in caught.value.line()
    assert "--set command: the value is a" in caught.value.line()
    with pytest.raises(InputError) as caught:
        load(HEAD + f"command: {command}\n")
    assert said in caught.value.line()


@pytest.mark.parametrize("extra", HARMLESS)
def test_look_alikes_pass(extra: str) -> None:
    assert load(HEAD + PLAIN + extra + "\n").spec.name == "mine"


@pytest.mark.parametrize("command", HARMLESS_COMMANDS)
def test_harmless_commands_pass(command: str) -> None:
    assert load(HEAD + f"command: {command}\n").spec.name == "mine"
