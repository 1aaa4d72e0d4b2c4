"""What is hidden and what is not. Look-alikes are put together here, so that this file ships."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from phalanx.redaction.redactor import Redactor
from phalanx.redaction.values import declared_values, forms, named_values

LETTERS = "Ab1" * 20
KEY = "-----{} {}PRIVATE KEY-----"
SHAPES = {
    "AWS access key": ["AKIA" + "Q7" * 8, "ASIA" + "Z9" * 8, "AKIAIOSFODNN7" + "EXAMPLE"],
    "Hugging Face token": ["hf_" + LETTERS[:34]],
    "GitHub token": ["ghp_" + LETTERS[:36], "gho_" + LETTERS[:36], "github_pat_" + LETTERS],
    "GitLab token": ["glpat-" + LETTERS[:20]],
    "Slack token": ["xoxb-" + "1234567890-" + LETTERS[:12]],
    "API key": ["sk-" + "proj-" + LETTERS[:40], "nvapi-" + LETTERS, "AIza" + LETTERS[:35]],
    "wandb key": ["wandb_v1_" + LETTERS],
    "token": ["eyJ" + LETTERS[:20] + ".eyJ" + LETTERS[:20] + "." + LETTERS[:30]],
    "private key": [KEY.format("BEGIN", "RSA ") + "\\nMIIE\\n" + KEY.format("END", "RSA ")],
}
NAMED = [
    "WANDB_API_KEY={}",
    "HF_TOKEN: {}",
    "'DB_PASSWORD': '{}'",
    '"SecretAccessKey": "{}"',
    "aws_secret_access_key = {}",
    "os.environ['MY_SECRET']='{}'",
    "curl --api-key {} x",
    "train.py --hub-token={}",
    "Authorization: Bearer {}",
    "authorization: Token {}",
    "postgres://me:{}@host/db",
    "https://{}@github.com/a/b",
    "https://b.s3.amazonaws.com/k?X-Amz-Signature={}&x=1",
    "machine api.wandb.ai login user password {}",
    "https://hooks.slack.com/services/{}",
]
HARMLESS = [
    "step 100 loss 0.123 tokens/s 123456 lr 1e-4",
    "max_tokens=1234567890 pad_token='<|endoftext|>' eos_token: </s>",
    "EOS_TOKEN=endoftext123456",
    "token: hello",
    "password: None, api_key: null, HF_TOKEN=",
    "PRIVATE_KEY=/etc/keys/one.pem",
    "primary key: abcdefghijk, monkey: bananas123",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "ssh://git@github.com/a/b https://example.com:8080/a@b",
    "hf_model_name half_" + LETTERS[:34],
    "AKIA" + "Q7" * 9,
    "risk-assessment-of-something-that-is-long",
    "-----BEGIN PUBLIC KEY-----",
    "Bearer of good news: authorization: required by the owner",
    "",
    "\x1b[31mred\x1b[0m ünïcödé \udc80",
]


@pytest.mark.parametrize(("what", "secret"), [(w, s) for w, many in SHAPES.items() for s in many])
def test_shapes_are_hidden_and_named(what: str, secret: str) -> None:
    assert Redactor().text(f"got {secret} here\n") == f"got [redacted {what}] here\n"


@pytest.mark.parametrize("text", NAMED)
def test_values_behind_telling_names_are_hidden_and_the_rest_stays(text: str) -> None:
    secret = "s3cr3tValue" + LETTERS[:12]
    before, after = text.split("{}")
    shown = Redactor().text(text.format(secret))
    assert secret not in shown
    assert shown.startswith(before.rstrip("/").rsplit("/", 1)[0])
    assert shown.endswith(after)
    assert "[redacted" in shown


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert Redactor().text(text) == text


def test_the_secret_half_of_an_aws_key_is_hidden_beside_its_id() -> None:
    half = "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"
    shown = Redactor().text(f"('AKIA{'Q7' * 8}', '{half}')\n{half}\n")
    assert shown == f"('[redacted AWS access key]', '[redacted AWS secret key]')\n{half}\n"


def test_a_wandb_key_is_hidden_where_wandb_speaks_of_keys() -> None:
    key = "0123456789abcdef" * 2 + "01234567"
    assert key not in Redactor().text(f"wandb: API key {key} is not valid")
    assert key in Redactor().text(f"wandb: commit {key}")


def test_known_values_are_named() -> None:
    redactor = Redactor({"HF_TOKEN": "correct horse", "PIN": "8321"})
    shown = redactor.text("a correct horse, 8321, correct horsecorrect horse")
    assert shown == "a [redacted HF_TOKEN], [redacted PIN], [redacted HF_TOKEN][redacted HF_TOKEN]"


@pytest.mark.parametrize(
    "form",
    [
        lambda v: v,
        json.dumps,
        repr,
        quote,
        lambda v: base64.b64encode(v.encode()).decode(),
        lambda v: base64.b64encode(f"user:{v}".encode()).decode(),
        lambda v: base64.b64encode(f"me:{v}!".encode()).decode(),
        lambda v: base64.b64encode(f"a:{v}".encode()).decode(),
    ],
)
def test_known_values_are_found_in_the_forms_that_programs_print(form) -> None:
    value = "pa'ss\"w\\ördè&7/x"
    shown = Redactor({"X": value}).text(f"see {form(value)} there")
    assert "[redacted X]" in shown
    assert form(value) not in shown


def test_a_value_of_several_lines_is_hidden_line_by_line() -> None:
    value = "first line of it\nsecond line of it\n}\n"
    shown = Redactor({"X": value}).text(f"<{value}>")
    assert shown == "<[redacted X]\n[redacted X]\n}\n>"


def test_the_longest_of_several_values_wins() -> None:
    redactor = Redactor({"A": "abcdef", "B": "abcdefghi"})
    assert redactor.text("abcdefghi abcdef") == "[redacted B] [redacted A]"


def test_a_value_that_is_part_of_its_own_marker_is_still_hidden() -> None:
    assert Redactor({"TOKEN_X": "redacted"}).text("it is redacted.") == "it is ***."


def test_a_private_key_over_many_lines_is_left_out() -> None:
    body = "\n".join([LETTERS + "/+=="] * 5)
    text = f"a\n{KEY.format('BEGIN', '')}\n{body}\n{KEY.format('END', '')}\nb\n"
    assert Redactor().text(text) == "a\n[redacted private key]\n\nb\n"


def test_a_private_key_without_an_end_does_not_swallow_what_follows() -> None:
    text = f"{KEY.format('BEGIN', '')}\n{LETTERS}\nstep 1: loss 0.5, all is well\n"
    assert Redactor().text(text) == "[redacted private key]\nstep 1: loss 0.5, all is well\n"


def test_hiding_twice_changes_nothing() -> None:
    redactor = Redactor({"V": "some known value"})
    texts = [text.format("s3cr3tValue123456") for text in NAMED] + ["some known value"]
    for text in texts + [secret for many in SHAPES.values() for secret in many]:
        once = redactor.text(text)
        assert redactor.text(once) == once


def test_only_values_worth_hiding_are_taken_from_the_environment() -> None:
    environ = {
        "HF_TOKEN": "hf_something",
        "WANDB_API_KEY": "0123456789abcdef0123",
        "DB_PASSWORD": "hunter2",
        "GPG_KEY": "A035C8C19219BA821ECEA86B64E628F8D684696D",
        "AWS_SHARED_CREDENTIALS": "/opt/aws/credentials",
        "USE_TOKEN": "true",
        "PATH": "/usr/bin",
        "PIN": "8321",
        "X": "abc",
    }
    assert set(named_values(environ)) == {"HF_TOKEN", "WANDB_API_KEY", "DB_PASSWORD"}
    assert declared_values(["PIN", "X", "NONE"], environ) == {"PIN": "8321"}


def test_a_value_in_a_file_is_found_by_name() -> None:
    redactor = Redactor({"HF_TOKEN": "correct horse"})
    assert redactor.holds_value(memoryview(b"x = 'correct horse'")) == "HF_TOKEN"
    assert redactor.holds_value(b"battery") == ""
    assert b"correct horse" in forms("correct horse")
