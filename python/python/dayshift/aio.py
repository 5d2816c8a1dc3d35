"""The asyncio twins: the same environment, whose steps run in a thread while the loop goes on.

    env = dayshift.aio.make("payment-change-v1")
    observation, info = await env.reset(seed=7)
"""

import asyncio
from typing import Any

from . import Credit, Env, Log, Report, VectorEnv
from . import make as _make

__all__ = ["AsyncEnv", "AsyncVectorEnv", "make"]


class AsyncEnv:
    """`dayshift.Env` for asyncio. Calls on one environment are done one after the other."""

    def __init__(self, env: Env) -> None:
        self.env = env

    async def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        return await asyncio.to_thread(self.env.reset, seed=seed, options=options)

    async def step(self, action: dict[str, Any]):
        return await asyncio.to_thread(self.env.step, action)

    async def say(self, text: str, *, hand_over: bool = False):
        return await asyncio.to_thread(self.env.say, text, hand_over=hand_over)

    async def hand_over(self, text: str = ""):
        return await asyncio.to_thread(self.env.hand_over, text)

    async def fork(self) -> "AsyncEnv":
        return AsyncEnv(await asyncio.to_thread(self.env.fork))

    async def grade(self) -> Report:
        return await asyncio.to_thread(self.env.grade)

    async def credit(self, **options: Any) -> Credit:
        return await asyncio.to_thread(lambda: self.env.credit(**options))

    async def close(self) -> None:
        await asyncio.to_thread(self.env.close)

    def tools(self) -> list[dict[str, Any]]:
        return self.env.tools()

    @property
    def log(self) -> Log:
        return self.env.log


class AsyncVectorEnv:
    """`dayshift.VectorEnv` for asyncio."""

    def __init__(self, env: VectorEnv) -> None:
        self.env = env

    async def reset(self, *, seeds: list[int] | None = None):
        return await asyncio.to_thread(self.env.reset, seeds=seeds)

    async def step(self, actions: list[Any]):
        return await asyncio.to_thread(self.env.step, actions)

    def __len__(self) -> int:
        return len(self.env)


def make(scenario: Any, **options: Any) -> AsyncEnv:
    """Makes an environment as `dayshift.make` does."""
    return AsyncEnv(_make(scenario, **options))
