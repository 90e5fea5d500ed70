"""What the guest asked of the services that the host serves to it."""

from __future__ import annotations

from fnmatch import fnmatchcase

from desktop_env.evaluators.facts import Fact
from desktop_env.protocols import Guest


def asked(guest: Guest, host: str, path: str = "*", *, method: str = "*") -> Fact[int]:
    """Count the requests to ``host`` that were answered well (2xx, 3xx); ``path`` and ``method`` are globs.

    A request's path has its query, as it was sent (``/api/birds?page=2``). Codes: ``not_asked``.
    """
    log = guest.requests.get(host, [])
    well = [request for request in log if 200 <= request.status < 400]
    count = sum(fnmatchcase(request.path, path) and fnmatchcase(request.method, method) for request in well)
    if not count:
        return Fact(host, "not_asked", f"expected that {host} was asked for {path}, found {len(log)} other requests")
    return Fact(host, "ok", f"{host} was asked for {path} {count} times", count)
