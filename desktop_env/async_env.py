"""`AsyncDesktopEnv`: the same environment for agent loops that await."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from desktop_env.env import DesktopEnv
from desktop_env.values import Verdict

P = ParamSpec("P")
T = TypeVar("T")


class AsyncDesktopEnv:
    """A `DesktopEnv` on a thread of its own, so that many run in one event loop.

    Takes the arguments of `DesktopEnv` and has its semantics: one call at a time, in order. A cancelled call still
    runs to its end on the machine; the next call waits for it.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        self._begin(DesktopEnv(*args, **settings))

    def _begin(self, env: DesktopEnv) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="deskgym-env")
        self.env = env
        self._closed = False

    @classmethod
    def _around(cls, env: DesktopEnv) -> AsyncDesktopEnv:
        twin = cls.__new__(cls)
        twin._begin(env)
        return twin

    async def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: function(*args, **kwargs))

    async def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Do as `DesktopEnv.reset`."""
        return await self._call(self.env.reset, seed=seed, options=options)

    async def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Do as `DesktopEnv.step`."""
        return await self._call(self.env.step, action)

    async def evaluate(self, keep: Path | None = None) -> Verdict:
        """Do as `DesktopEnv.evaluate`."""
        return await self._call(self.env.evaluate, keep)

    async def save(self, name: str) -> None:
        """Do as `DesktopEnv.save`."""
        await self._call(self.env.save, name)

    async def restore(self, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Do as `DesktopEnv.restore`."""
        return await self._call(self.env.restore, name)

    async def fork(self, count: int) -> list[AsyncDesktopEnv]:
        """Do as `DesktopEnv.fork`."""
        return [AsyncDesktopEnv._around(env) for env in await self._call(self.env.fork, count)]

    async def close(self) -> None:
        """Stop the machine; a second call does nothing."""
        if not self._closed:
            self._closed = True
            await self._call(self.env.close)
            self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
