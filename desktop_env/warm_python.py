"""Runs in a guest and stands alone: Python programs without the seconds that their packages take to load.

    warm_python.py serve SOCKET MODULE…         load modules, then run each program in a fork of this process
    warm_python.py SOCKET PYTHON [ARGUMENT…]    stand for PYTHON: what is no program's file is left to it

A program sees its own arguments, folder, environment and streams, and its exit code is the caller's.
"""

import atexit
import contextlib
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
import traceback
from typing import Any, NoReturn

BACKLOG = 16
MAX_REQUEST = 1 << 22


def serve(place: str, modules: list[str]) -> NoReturn:
    """Load what can be loaded, then serve until a signal ends this; who calls earlier waits."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(BACKLOG)
        for name in modules:
            try:
                importlib.import_module(name)
            except Exception:  # noqa: BLE001, S112 - the program will say so itself, if it needs it
                continue
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            client, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                attend(client)
            client.close()


def attend(client: socket.socket) -> NoReturn:
    """Run one program and tell its exit code; it ends with its caller."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    data, streams, _, _ = socket.recv_fds(client, MAX_REQUEST, 3)
    while not data.endswith(b"\n"):
        data += client.recv(MAX_REQUEST)
    program = os.fork()
    if program == 0:
        client.close()
        os.setsid()
        run(json.loads(data), streams)
    ended = os.pidfd_open(program)
    ready, _, _ = select.select([client.fileno(), ended], [], [])
    if ended not in ready:
        os.killpg(program, signal.SIGKILL)
    _, status = os.waitpid(program, 0)
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(OSError):  # the caller may have gone
        client.sendall(b"%d\n" % (code if code >= 0 else 128 - code))
    os._exit(0)


def run(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be the program."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = request["arguments"]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    code = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if code and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - as the interpreter does
        code = 1
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


def call(place: str, python: str, arguments: list[str]) -> NoReturn:
    """Have a program run, or run what is no program."""
    if not arguments or not arguments[0].endswith(".py") or not os.path.isfile(arguments[0]):
        os.execv(python, [python, *arguments])
    request = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(place)
        data = json.dumps(request).encode() + b"\n"
        socket.send_fds(server, [data[:1024]], [0, 1, 2])
        server.sendall(data[1024:])
        sys.exit(int(server.recv(16)))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], sys.argv[3:])
    call(sys.argv[1], sys.argv[2], sys.argv[3:])
