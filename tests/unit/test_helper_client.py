from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from desktop_env.errors import GuestError, GuestTimeout, UsageError
from desktop_env.guest.helper import HelperClient

Answer = Callable[[dict[str, object]], bytes]


def frame(request: dict[str, object], payload: bytes = b"", **facts: object) -> bytes:
    return json.dumps({"id": request["id"], "ok": True, "size": len(payload), **facts}).encode() + b"\n" + payload


@pytest.fixture
def connect() -> Iterator[Callable[[Answer], HelperClient]]:
    """Gives a client whose other end answers each request with the bytes that a function gives, then ends."""
    started: list[tuple[threading.Thread, HelperClient]] = []

    def make(answer: Answer) -> HelperClient:
        ours, theirs = socket.socketpair()
        theirs.settimeout(10)

        def serve() -> None:
            with contextlib.suppress(OSError), theirs, theirs.makefile("rb") as lines:  # the client may go first
                for line in lines:
                    data = answer(json.loads(line))
                    theirs.sendall(data)
                    if data.endswith(b"END"):
                        return

        thread = threading.Thread(target=serve)
        thread.start()
        client = HelperClient(ours)
        started.append((thread, client))
        return client

    yield make
    for thread, client in started:
        client.close()
        thread.join(10)


def test_answers_become_values(connect: Callable[[Answer], HelperClient]) -> None:
    window = {
        "id": 7,
        "title": "é",
        "wm_class": "a.A",
        "pid": 1,
        "x": 1,
        "y": 2,
        "width": 3,
        "height": 4,
        "active": True,
    }

    def answer(request: dict[str, object]) -> bytes:
        match request["op"]:
            case "tree":
                return frame(request, b"<desktop-frame/>", nodes=0, cut=False, seconds=0.1)
            case "windows":
                return frame(request, windows=[window])
            case "focus":
                return frame(
                    request, focus={"role": "push button", "name": "", "application": "a", "states": ["focused"]}
                )
            case "cursor":
                return frame(request, x=1, y=2)
            case _:
                return frame(request, "漢".encode())

    client = connect(answer)
    assert client.tree().xml == "<desktop-frame/>"
    assert client.windows()[0].title == "é"
    focus = client.focus()
    assert focus is not None
    assert focus.role == "push-button"
    assert client.cursor() == (1, 2)
    assert client.clipboard_get() == "漢"


def test_a_refusal_leaves_the_client_usable(connect: Callable[[Answer], HelperClient]) -> None:
    def answer(request: dict[str, object]) -> bytes:
        return frame(request, ok=request["op"] == "cursor", error="ValueError: no", x=0, y=0)

    client = connect(answer)
    with pytest.raises(GuestError, match="ValueError: no"):
        client.windows()
    assert client.cursor() == (0, 0)


def test_after_a_timeout_every_call_is_refused(connect: Callable[[Answer], HelperClient]) -> None:
    client = connect(lambda request: b"")
    with pytest.raises(GuestTimeout):
        client.cursor(timeout=0.05)
    with pytest.raises(GuestError, match="no answer to cursor"):
        client.cursor()


@pytest.mark.parametrize(
    "data",
    [
        b"no json\n",
        b"[1]\n",
        b'{"id": 99, "ok": true, "size": 0}\n',
        b'{"id": 1, "ok": true, "size": -1}\n',
        b'{"id": 1, "ok": true, "size": 1e30}\n',
        b'{"id": 1, "ok": true, "size": 99999999999}\n',
        b'{"id": 1, "ok": true, "size": 10}\nshortEND',
        b'{"id": 1, "ok": true, "size": 0, "x": "?"}\n',
        b"x" * (5 << 20),
        b"END",
    ],
    ids=["text", "list", "id", "negative", "float", "huge", "short", "fact", "endless", "end"],
)
def test_nonsense_is_a_guest_error(connect: Callable[[Answer], HelperClient], data: bytes) -> None:
    client = connect(lambda request: data)
    with pytest.raises(GuestError):
        client.cursor(timeout=10)


@pytest.mark.parametrize("text", ["x" * ((1 << 20) + 1), "\ud800"], ids=["long", "surrogate"])
def test_what_no_clipboard_can_hold_is_refused_here(connect: Callable[[Answer], HelperClient], text: str) -> None:
    with pytest.raises(UsageError):
        connect(frame).clipboard_set(text)


def test_a_helper_whose_connection_broke_can_be_closed() -> None:
    class Broken:
        def close(self) -> None:
            raise EOFError

        def settimeout(self, timeout: float | None) -> None: ...

        def sendall(self, data: bytes) -> None: ...

        def recv(self, size: int) -> bytes:
            return b""

    client = HelperClient(Broken())
    client.close()
    with pytest.raises(GuestError, match="closed"):
        client.windows(timeout=1.0)
