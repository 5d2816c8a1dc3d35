from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, final

from .types import Action, Info, Json, Observation, Path, Rewarding, Step, Tool

__version__: str
__all__ = [
    "BadScenario",
    "Check",
    "Closed",
    "Credit",
    "DayshiftError",
    "Divergence",
    "Env",
    "Episode",
    "Key",
    "Log",
    "Rejected",
    "Report",
    "Scenario",
    "Scene",
    "Store",
    "StoreFailed",
    "VectorEnv",
    "__version__",
    "load",
    "make",
    "replay",
    "scenarios",
    "verify",
]

class DayshiftError(Exception):
    code: str
    message: str

class Rejected(DayshiftError): ...
class Closed(DayshiftError): ...

class BadScenario(DayshiftError):
    problems: list[str]

class StoreFailed(DayshiftError): ...

class Divergence(DayshiftError):
    record: int
    differences: list[tuple[str, str, str]]
    keys: list[str]

@final
class Check:
    id: str
    def __new__(
        cls,
        id: str,
        function: Callable[[Scene], bool | float],
        *,
        weight: float = 1.0,
        moment: str = "final",
        red_line: float | None = None,
        title: str = "",
        requirement: str = "",
    ) -> Self: ...

@final
class Scene:
    now: str
    day: int
    def ask(self, question: str, **arguments: Json) -> Any: ...
    def at(self, day: str) -> Scene: ...
    def calls(self, tool: str | None = None) -> list[dict[str, Any]]: ...
    def messages(self) -> list[dict[str, Any]]: ...
    def file(self, path: str) -> bytes | None: ...
    def mailbox(self, address: str, folder: str) -> list[bytes]: ...
    def tree(self) -> list[tuple[str, int | None, str | None, int, int, int]]: ...
    def note_untracked(self) -> None: ...

@final
class Report:
    run: str
    scenario: str
    seed: int
    agent: str
    head: str
    records: int
    turns: int
    finished: bool
    score: float
    uncapped: float
    passed: bool
    strict: bool
    days: dict[str, float]
    checks: list[dict[str, Any]]
    exogenous: float
    def to_dict(self) -> dict[str, Any]: ...

@final
class Credit:
    run: str
    scenario: str
    score: float
    turns: int
    exogenous: float
    unattributed: float
    credit: list[dict[str, Any]]
    ledger: list[dict[str, Any]]
    def by_turn(self) -> dict[int, float]: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class Log:
    scenario: str
    head: str
    def __len__(self) -> int: ...
    def save(self, path: Path) -> None: ...
    def records(self) -> list[dict[str, Any]]: ...
    def verify(self) -> None: ...
    def replay(self) -> int: ...
    def sign(self, key: Key) -> Log: ...
    def grade(
        self,
        *,
        checks: Sequence[Check] | None = None,
        trust: bool = False,
        host: bool = False,
        scenario: Scenario | None = None,
        keys: Sequence[str] = ...,
        require_signature: bool = False,
    ) -> Report: ...
    def credit(
        self,
        *,
        checks: Sequence[Check] | None = None,
        rho: float = 0.3,
        gamma: float = 0.7,
        audit: bool = False,
        trust: bool = False,
    ) -> Credit: ...
    def state(self, at: int | None = None) -> dict[str, Any]: ...

@final
class Key:
    public: str
    def __new__(cls, path: Path) -> Self: ...
    @staticmethod
    def create(path: Path) -> Key: ...

@final
class Store:
    def __new__(cls, path: Path, *, key: Key | None = None) -> Self: ...
    def runs(self) -> list[dict[str, Any]]: ...
    def load(self, run: str) -> Log: ...
    def verify(self, run: str) -> int: ...
    def import_(self, path: Path) -> str: ...

@final
class Episode:
    opening: list[str]
    log: Log
    run: str | None
    head: str
    closed: bool
    day: int
    turn: int
    def __len__(self) -> int: ...
    def call(self, tool: str, **arguments: Json) -> Any: ...
    def say(self, text: str = "") -> list[str]: ...
    def hand_over(self, text: str = "") -> list[str]: ...
    def stage(
        self,
        event: str,
        tool: str,
        arguments: Mapping[str, Json],
        *,
        time: str | None = None,
        persona: str | None = None,
    ) -> Any: ...
    def tell(self, event: str, text: str, *, time: str | None = None) -> None: ...
    def blob(self, content: bytes) -> str: ...
    def scene(self) -> Scene: ...
    def fork(self) -> Episode: ...
    def grade(self, *, checks: Sequence[Check] | None = None) -> Report: ...
    def credit(
        self,
        *,
        checks: Sequence[Check] | None = None,
        rho: float = 0.3,
        gamma: float = 0.7,
        audit: bool = False,
    ) -> Credit: ...
    def tools(self) -> list[Tool]: ...
    def state(self) -> dict[str, Any]: ...
    def commit(self) -> None: ...

@final
class Scenario:
    id: str
    title: str
    request: str
    digest: str
    days: list[str]
    checks: list[dict[str, Any]]
    solutions: list[str]
    threshold: float
    def __new__(cls, name: Path) -> Self: ...
    @staticmethod
    def from_files(name: str, files: Mapping[str, bytes]) -> Scenario: ...
    def tools(self) -> list[Tool]: ...
    def with_checks(self, checks: Sequence[Check], *, threshold: float | None = None) -> Scenario: ...
    def with_personas(self, personas: Mapping[str, Callable[[Any, Scene], dict[str, Any] | None]]) -> Scenario: ...
    def start(
        self,
        *,
        seed: int = 0,
        store: Store | None = None,
        agent: str = "python",
        reward: Rewarding = "final",
    ) -> Episode: ...

@final
class Env:
    log: Log
    episode: Episode
    scenario: str
    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]: ...
    def step(self, action: Action) -> Step: ...
    def say(self, text: str, *, hand_over: bool = False) -> Step: ...
    def hand_over(self, text: str = "") -> Step: ...
    def fork(self) -> Env: ...
    def grade(self) -> Report: ...
    def credit(self, *, rho: float = 0.3, gamma: float = 0.7, audit: bool = False) -> Credit: ...
    def tools(self) -> list[Tool]: ...
    def close(self) -> None: ...

@final
class VectorEnv:
    episodes: list[Episode]
    def __new__(
        cls,
        scenario: Path | Scenario,
        n: int,
        *,
        threads: int | None = None,
        reward: Rewarding = "final",
    ) -> Self: ...
    def __len__(self) -> int: ...
    def reset(self, *, seeds: Sequence[int] | None = None) -> tuple[list[Observation], list[Info]]: ...
    def step(self, actions: list[Action | list[Action] | None]) -> list[Step | None]: ...

def scenarios() -> list[str]: ...
def make(scenario: Path | Scenario, *, store: Path | Store | None = None, reward: Rewarding = "final") -> Env: ...
def load(path: Path) -> Log: ...
def replay(path: Path) -> int: ...
def verify(path: Path, *, head: str | None = None, keys: Sequence[str] = ...) -> int: ...
