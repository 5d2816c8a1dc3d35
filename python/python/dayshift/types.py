"""The shapes of what environments take and give, for type checkers."""

from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal, TypedDict

__all__ = ["Action", "Info", "Json", "Observation", "Path", "Refusal", "Rewarding", "Step", "Tool"]

Json = None | bool | int | float | str | list[Any] | dict[str, Any]
Path = str | PathLike[str]
Rewarding = Literal["none", "final", "day", "step"]
Action = Mapping[str, Any]


class Refusal(TypedDict):
    """Why a call was refused."""

    code: str
    message: str


class Observation(TypedDict):
    """What a step shows the agent."""

    answer: Any
    error: Refusal | None
    notices: list[str]


class Info(TypedDict, total=False):
    """What a step says besides; `request` and `run` only at a reset."""

    day: str
    time: str
    record: int
    request: str
    run: str | None


class Tool(TypedDict):
    """A tool as a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


Step = tuple[Observation, float, bool, bool, Info]
