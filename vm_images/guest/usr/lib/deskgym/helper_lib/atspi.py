"""The accessibility bus: many calls at a time, and who has the keyboard focus."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

ROOT = "/org/a11y/atspi/accessible/root"
REGISTRY = "org.a11y.atspi.Registry"
ACCESSIBLE = "org.a11y.atspi.Accessible"
STATES = (
    "invalid active armed busy checked collapsed defunct editable enabled expandable expanded focusable focused "
    "has_tooltip horizontal iconified modal multi_line multiselectable opaque pressed resizable selectable "
    "selected sensitive showing single_line stale transient vertical visible manages_descendants indeterminate "
    "required truncated animated invalid_entry supports_autocompletion selectable_text is_default visited "
    "checkable has_popup read_only"
).split()
FOCUSED = 1 << STATES.index("focused")

Ref = tuple[str, str]
"""An accessible: the bus name of its application, and its path there."""

LATE = object()
"""Stands for an answer that did not come in time."""


@dataclass(frozen=True, slots=True)
class Call:
    """A method call to the object ``ref``."""

    ref: Ref
    interface: str
    method: str
    arguments: Any = None


def get_property(ref: Ref, interface: str, name: str) -> Call:
    """Make the call that reads a property."""
    return Call(ref, "org.freedesktop.DBus.Properties", "Get", GLib.Variant("(ss)", (interface, name)))


def get_matches(ref: Ref, states: int, count: int) -> Call:
    """Make the call that lists the descendants of ``ref`` with ``states``, in document order, at most ``count``."""
    words = [states & 0xFFFFFFFF, states >> 32] if states else []
    rule: tuple[Any, ...] = (words, 1, {}, 1, [], 1, [], 1, False)
    arguments = GLib.Variant("((aiia{ss}iaiiasib)uib)", (rule, 1, count, True))
    return Call(ref, "org.a11y.atspi.Collection", "GetMatches", arguments)


def role_name(role: int) -> str:
    """Give the name that libatspi gives ``role``."""
    return str(Atspi.role_get_name(Atspi.Role(role))) if 0 <= role < int(Atspi.Role.LAST_DEFINED) else "unknown"


def state_bits(words: Sequence[int]) -> int:
    """Join the two 32-bit words in which a set of states travels."""
    return sum(word << 32 * place for place, word in enumerate(words[:2]))


class Bus:
    """A connection to the accessibility bus, made when first needed and again after it broke."""

    def __init__(self) -> None:
        self._connection: Any = None
        self._address = ""

    def ask(self, calls: Sequence[Call], seconds: float) -> list[Any]:
        """Send all calls at once and wait for the answers.

        Gives, for each call, the tuple of what it answers, None when it failed, `LATE` when it did not answer.
        """
        deadline = time.monotonic() + seconds
        connection = self._open(seconds)
        cancel = Gio.Cancellable()
        answers: list[Any] = [LATE] * len(calls)
        left = set(range(len(calls)))

        def finish(connection: Any, result: Any, place: int) -> None:
            left.discard(place)
            try:
                answers[place] = connection.call_finish(result).unpack()
            except GLib.Error as error:
                answers[place] = LATE if error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED) else None

        flags = Gio.DBusCallFlags.NO_AUTO_START
        for place, c in enumerate(calls):
            to, path = c.ref
            connection.call(to, path, c.interface, c.method, c.arguments, None, flags, -1, cancel, finish, place)
        alarm = GLib.timeout_add(max(int((deadline - time.monotonic()) * 1000), 1), lambda: cancel.cancel() or True)
        while left:
            GLib.MainContext.default().iteration(True)
        GLib.source_remove(alarm)
        return answers

    def applications(self, seconds: float) -> list[Ref]:
        """List the roots of all applications."""
        answer = self.ask([Call((REGISTRY, ROOT), ACCESSIBLE, "GetChildren")], seconds)[0]
        return list(answer[0]) if isinstance(answer, tuple) else []

    def address(self, seconds: float) -> str:
        """Give the address of the bus, which is now connected."""
        self._open(seconds)
        return self._address

    def _open(self, seconds: float) -> Any:
        """Give the open connection.

        An event that nobody sends is registered: programs keep their cache of accessibles only while an
        assistive technology listens.
        """
        if self._connection is not None and not self._connection.is_closed():
            return self._connection
        limit = max(int(seconds * 1000), 1)
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        where = ("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")
        self._address = session.call_sync(*where, None, None, 0, limit).unpack()[0]
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        connection = Gio.DBusConnection.new_for_address_sync(self._address, flags)
        event = GLib.Variant("(s)", ("deskgym:listening",))
        connection.call_sync(REGISTRY, "/org/a11y/atspi/registry", REGISTRY, "RegisterEvent", event, None, 0, limit)
        self._connection = connection
        return connection


def focused(bus: Bus, pid: int, seconds: float) -> dict[str, Any] | None:
    """Describe the focused accessible of process ``pid`` (0: of any), or give None.

    The last in document order counts: a page and a field in it can both say that they have the focus.
    """
    applications = bus.applications(seconds)
    if pid:
        to = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
        owner = [Call(to, to[0], "GetConnectionUnixProcessID", GLib.Variant("(s)", (ref[0],))) for ref in applications]
        pids = bus.ask(owner, seconds)
        applications = [ref for ref, answer in zip(applications, pids, strict=True) if answer == (pid,)]
    answers = bus.ask([get_matches(ref, FOCUSED, 0) for ref in applications], seconds)
    refs = [ref for answer in answers if isinstance(answer, tuple) for ref in answer[0]]
    return _describe(bus, refs[-1], seconds) if refs else None


def _describe(bus: Bus, ref: Ref, seconds: float) -> dict[str, Any]:
    calls = [
        get_property(ref, ACCESSIBLE, "Name"),
        Call(ref, ACCESSIBLE, "GetRole"),
        Call(ref, ACCESSIBLE, "GetState"),
        get_property((ref[0], ROOT), ACCESSIBLE, "Name"),
    ]
    name, role, states, application = (
        answer[0] if isinstance(answer, tuple) else None for answer in bus.ask(calls, seconds)
    )
    bits = state_bits(states or ())
    return {
        "name": (name or "")[:10_000],
        "role": role_name(-1 if role is None else role),
        "states": [state for place, state in enumerate(STATES) if bits >> place & 1],
        "application": (application or "")[:1000],
    }
