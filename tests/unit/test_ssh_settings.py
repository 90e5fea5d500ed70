"""Settings of the ssh provider, what they are turned into, and what a machine that is looked at lacks."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from desktop_env.env import DesktopEnv
from desktop_env.errors import HostError, UsageError
from desktop_env.guest.keys import make_keys
from desktop_env.providers.ssh_check import judge, merge_environment
from desktop_env.providers.ssh_login import client_keys, read_settings
from desktop_env.providers.ssh_machine import RemoteGuest, SshProvider, install_command


def test_settings_come_from_a_file_and_from_arguments_which_win(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text('host = "lab7"\nuser = "admin"\nport = 2222\nreset_remote = "systemctl restart desk"\n')
    settings = read_settings({"file": str(file), "port": "22", "key": "~/.ssh/lab"})
    assert (settings.address, settings.known_as) == ("admin@lab7:22", "lab7")
    assert settings.resets
    assert read_settings({"file": str(file)}).known_as == "[lab7]:2222"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "host: Field required"),
        ({"host": "a", "prot": "1"}, "prot: Extra inputs.*its settings: file, host, port"),
        ({"host": "a", "port": "70000"}, "port: "),
        ({"host": "a", "host_key": "MD5:1"}, "host_key: "),
        ({"host": "a", "user": "-oProxyCommand=x"}, "user: "),
        ({"file": "/nonexistent.toml"}, "settings in /nonexistent.toml cannot be read"),
    ],
)
def test_a_wrong_setting_is_named(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SshProvider(**given)


def test_an_environment_takes_the_settings_of_a_provider_by_name() -> None:
    DesktopEnv(provider="ssh", provider_args={"host": "lab7"}).close()
    with pytest.raises(UsageError, match="host: Field required"):
        DesktopEnv(provider="ssh")
    with pytest.raises(UsageError, match="provider container: "):
        DesktopEnv(provider="container", provider_args={"host": "lab7"})


def test_commands_become_user_or_root_from_the_account_that_there_is() -> None:
    keys = make_keys()
    root = RemoteGuest(read_settings({"host": "a"}), keys)
    assert shlex.split(root._command("root", "echo $X")) == ["bash", "-c", "echo $X"]
    admin = RemoteGuest(read_settings({"host": "a", "user": "admin"}), keys)
    assert shlex.split(admin._command("root", "id")) == ["sudo", "-n", "--", "bash", "-c", "id"]
    words = shlex.split(admin._command("user", "id"))
    assert words[:4] == ["sudo", "-n", "--", "setpriv"]
    assert {"--reuid=user", "env", "-i", "HOME=/home/user"} <= set(words)


def test_the_install_command_repeats_what_leads_to_the_machine() -> None:
    settings = read_settings({"host": "lab 7", "user": "admin", "reset_local": "revert"})
    assert shlex.split(install_command(settings)) == ["deskgym", "remote", "install", "host=lab 7", "user=admin"]


def test_a_key_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("no key")
    settings = read_settings({"host": "127.0.0.1", "port": 1, "key": tmp_path / "key"})
    with pytest.raises(HostError, match="key .* cannot be read"):
        next(client_keys(settings))


def test_environments_are_merged() -> None:
    assert merge_environment("A=1\nPATH=/theirs\n\n# note\n", "PATH=/ours\nB=2\n") == "A=1\n# note\nPATH=/ours\nB=2\n"


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        (["program Xvnc"], {"Xvnc"}),
        (["module gi", "part helper", "account"], {"gi", "/usr/lib/deskgym/helper", "user"}),
        (["helper 0123"], {"/usr/lib/deskgym/helper"}),
        (["session", "display"], {"display"}),
        (["session"], {"session"}),
        (["system", "program Xvnc"], {"system"}),
        (["work code", "distribution debian"], {"code"}),
        (["program ../../etc/passwd", "nonsense"], set()),
    ],
)
def test_what_a_machine_says_of_itself_becomes_messages(facts: list[str], named: set[str]) -> None:
    missing = list(judge(facts))
    assert {one.what for one in missing} == named
    assert all(one.message for one in missing)
