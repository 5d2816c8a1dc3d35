"""Gymnasium's side: `gymnasium.make("dayshift/payment-change-v1")`, where gymnasium is installed.

Actions and observations are text, which is JSON: `{"tool": "mail.list", "arguments": {}}`, `{"say": "…"}`, `{"hand_over": "…"}`. A text that
is no action is answered like a refused call and changes nothing.
"""

import json
from typing import Any

import gymnasium
import numpy
from gymnasium.spaces import Space

import dayshift

from .registration import register

__all__ = ["JsonText", "TextEnv", "register"]


class JsonText(Space[str]):
    """Any text. Samples are actions that an agent can begin with."""

    def __init__(self, samples: tuple[str, ...] = ('{"say": ""}',), seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)
        self.samples = samples

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        return self.samples[int(self.np_random.integers(len(self.samples)))]

    def contains(self, x: Any) -> bool:
        return isinstance(x, str)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonText) and self.samples == other.samples

    def __repr__(self) -> str:
        return "JsonText()"


class TextEnv(gymnasium.Env[str, str]):
    """A `dayshift.Env` with text on both sides. `unwrapped.env` is the environment itself."""

    metadata = {"render_modes": ["ansi"]}

    def __init__(
        self,
        scenario: str,
        *,
        store: Any = None,
        reward: str = "step",
        steps_max: int = 10_000,
        render_mode: str | None = None,
    ) -> None:
        self.env = dayshift.make(scenario, store=store, reward=reward)
        self.render_mode = render_mode
        self.steps_max = steps_max
        self.steps = 0
        self.shown = ""
        self.observation_space = JsonText()
        tools = [tool["name"] for tool in self.env.tools() if not tool["parameters"]["required"]]
        calls = [json.dumps({"tool": tool, "arguments": {}}) for tool in tools]
        self.action_space = JsonText((*calls, '{"say": ""}', '{"hand_over": ""}'))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        # Without a seed, the episode's is drawn from the environment's own stream, as Gymnasium has it.
        drawn = int(self.np_random.integers(numpy.iinfo(numpy.int64).max)) if seed is None else seed
        observation, info = self.env.reset(seed=drawn, options=options)
        self.steps = 0
        return self._show(observation), info

    def step(self, action: str):
        self.steps += 1
        truncated = self.steps >= self.steps_max
        try:
            parsed = json.loads(action)
        except (ValueError, RecursionError) as error:
            parsed = {"unreadable": f"the action is no JSON that can be read: {error}"}
        try:
            observation, reward, terminated, _, info = self.env.step(parsed)
        except (ValueError, TypeError) as error:
            observation, reward, terminated, _, info = self.env.step({"unreadable": str(error)})
        return self._show(observation), reward, terminated, truncated, info

    def render(self) -> str | None:
        return self.shown if self.render_mode == "ansi" else None

    def close(self) -> None:
        self.env.close()

    def _show(self, observation: dict[str, Any]) -> str:
        self.shown = json.dumps(observation, ensure_ascii=False)
        return self.shown
