"""Running one task: stages as exogenous events, an agent's calls, snapshots, verdicts and credit."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import dayshift
from dayshift import Check, Episode, Log, Scenario, Scene

from .agents import Agent, Tools
from .calendars import Calendars
from .files import Files
from .mail import Mail
from .notion import Notion
from .office import Context, Look, Stager
from .shell import Shell
from .sheets import Sheets
from .tasks import Checker, Task
from .workspace import Snapshots, tracing

__all__ = ["Result", "StageResult", "regrade", "run_task", "scenario_of"]

EPOCH = datetime(2026, 1, 5, 9, tzinfo=timezone(timedelta(hours=8)))

# What follows a notification: "(current time: …)".
NOW = "\n（当前时间：{}）"


@dataclass
class StageResult:
    """What became of one stage."""

    id: str
    success: bool = True
    error: str = ""


@dataclass
class Item:
    """One verdict."""

    item_id: str
    passed: bool
    weight: float
    stage: str
    detail: str = ""


@dataclass
class Result:
    """What a task came to, in the benchmark's own terms, and what it does not know: the log's end and the credit of each turn."""

    task_id: str
    task: str
    score: float
    execution_time: float
    stages: list[StageResult] = field(default_factory=list)
    rubric: list[Item] = field(default_factory=list)
    error: str = ""
    head: str = ""
    records: int = 0
    credit: list[dict[str, Any]] = field(default_factory=list)
    exogenous: float = 0.0
    unattributed: float = 0.0
    helpful: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)


def run_task(
    task: Task,
    agent: Agent,
    *,
    name: str = "agent",
    helpful: bool = False,
    out: Path | None = None,
) -> Result:
    """Plays `task` with `agent`. With `out`, its folder gets result.json and log.dayshift."""
    started = time.perf_counter()
    loop = asyncio.new_event_loop()
    snapshots = Snapshots()
    try:
        result = _play(task, agent, name, helpful, out, loop, snapshots)
    except Exception as error:
        # Nothing ran, so nothing is scored, as in the original.
        result = Result(task.id, task.name, 0.0, 0.0, error=f"FRAMEWORK_ERROR: {error!r}", helpful=helpful)
    finally:
        snapshots.close()
        loop.close()
    result.execution_time = time.perf_counter() - started
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "result.json").write_text(result.to_json(), encoding="utf-8")
    return result


def _play(
    task: Task,
    agent: Agent,
    name: str,
    helpful: bool,
    out: Path | None,
    loop: asyncio.AbstractEventLoop,
    snapshots: Snapshots,
) -> Result:
    episode = scenario_of(task).start(reward="none", agent=name)
    services = _Services(task, snapshots, helpful=helpful)
    context = services.context(episode.scene, Stager(episode, "stage0"))
    tools = Tools(episode, task)
    stages: list[StageResult] = []
    for number, stage in enumerate(task.stages):
        result = StageResult(f"stage{number}")
        stages.append(result)
        services.move_to(context, Stager(episode, result.id))
        try:
            told = loop.run_until_complete(stage(context))
            notification = _notification(task, number, told)
            episode.tell(result.id, notification, time=_told_time(told))
            loop.run_until_complete(agent.act(notification, tools))
            context.workspace = snapshots.lay_out(episode.scene())
            context.snapshots[result.id] = context.workspace
        except Exception as error:
            result.success, result.error = False, f"{type(error).__name__}: {error}"
        episode.hand_over()
        if not result.success:
            break
    while not episode.closed:
        episode.hand_over()
    log = episode.log
    attributes = {key: value for key, value in vars(context).items() if key not in vars(services.context(episode.scene, None))}
    checks = _checks(task, services, loop, stages, attributes)
    judged = log.credit(checks=checks) if checks else None
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        log.save(out / "log.dayshift")
    return _result(task, stages, log, judged, helpful)


def regrade(task: Task, log: Log, stages: list[StageResult], *, helpful: bool = False) -> list[Item]:
    """Returns the verdicts on a log, from the log alone: no stage and no agent runs again."""
    loop = asyncio.new_event_loop()
    snapshots = Snapshots()
    try:
        services = _Services(task, snapshots, helpful=helpful)
        checks = _checks(task, services, loop, stages, {})
        return _items(task, log.grade(checks=checks).checks) if checks else []
    finally:
        snapshots.close()
        loop.close()


def scenario_of(task: Task) -> Scenario:
    """Returns the scenario of a task: its people and its days. Everything else is staged."""
    known = [opens for opens in task.opens if opens is not None]
    opens, last = [], known[0] if known else EPOCH
    for time_of_stage in task.opens:
        last = max(last, time_of_stage or last)
        opens.append(last)
    own = own_account(task)
    people = [{"name": _name(user), "address": address} for user, address in task.users.items() if user != own]
    agent = {"name": _name(own) if own else "agent", "address": task.users.get(own or "", "agent@clawmark.example")}
    manifest = {
        "id": f"clawmark-{_name(task.id)}-v1",
        "title": task.metadata["name"],
        "request": task.prompt,
        "requirements": [],
        "agent": agent,
        "office": {"zone": _zone(opens[0])},
        "people": people,
        "epoch": opens[0].isoformat(),
        "days": [
            {"name": f"stage{number}", "opens": at.isoformat(), "ends": at.isoformat(), "notification": f"stage{number}"}
            for number, at in enumerate(opens)
        ],
        "outside": "allowed",
        # Laid out by the stages of the task, not by the package.
        "services": {name: True for name in ("calendar", "knowledge", "records", "sheets")},
        "checks": [],
    }
    files = {
        "scenario.yaml": json.dumps(manifest, ensure_ascii=False, indent=1).encode(),
        "checks.star": b"# The checkers are Python, and come with the task.\n",
    }
    return Scenario.from_files(manifest["id"], files)


def own_account(task: Task) -> str | None:
    """Returns the agent's own account among the task's users: the one to which most of its stages' mails go."""
    source = (task.folder / "task.py").read_text(encoding="utf-8")
    counts = {user: len(re.findall(rf"to\s*=\s*[\"']{re.escape(address)}[\"']", source)) for user, address in task.users.items()}
    return max(counts, key=lambda user: counts[user], default=None)


class _Services:
    """The services that a task declares, over whatever world they are shown."""

    def __init__(self, task: Task, snapshots: Snapshots, *, helpful: bool) -> None:
        self.task = task
        self.snapshots = snapshots
        self.helpful = helpful

    def context(self, look: Look, stager: Stager | None, workspace: Path | None = None) -> Context:
        return Context(self.task.folder, workspace, self._services(look, stager))

    def move_to(self, context: Context, stager: Stager) -> None:
        """Lets what `context` stages belong to another stage."""
        for name, service in self._services(stager.episode.scene, stager).items():
            setattr(context, name, service)

    def _services(self, look: Look, stager: Stager | None) -> dict[str, Any]:
        sandbox = Shell(look, stager, self.snapshots, helpful=self.helpful)
        services: dict[str, Any] = {"sandbox": sandbox}
        for environment in self.task.environments:
            match environment:
                case "filesystem":
                    services["fs"] = services["filesystem"] = Files(look, stager, sandbox, helpful=self.helpful)
                case "email":
                    services["email"] = Mail(self.task.users, look, stager)
                case "notion":
                    services["notion"] = Notion(look, stager)
                case "google_sheets":
                    services["google_sheets"] = Sheets(look, stager)
                case "calendar":
                    services["calendar"] = Calendars(look, stager)
        return services


def _checks(
    task: Task,
    services: _Services,
    loop: asyncio.AbstractEventLoop,
    stages: list[StageResult],
    attributes: dict[str, Any],
) -> list[Check]:
    """Returns the checkers that run: those of the stages that succeeded, and the final ones."""
    succeeded = [number for number, stage in enumerate(stages) if stage.success]
    checks = []
    for index, checker in enumerate(task.checkers):
        if checker.stage is not None and checker.stage not in succeeded:
            continue
        moment = "final" if checker.stage is None else f"end of stage{checker.stage}"
        # The last snapshot is what a final checker sees, whatever a failed stage did after it.
        last = succeeded[-1] if succeeded else None
        function = _function(checker, services, loop, last if checker.stage is None else checker.stage, attributes)
        title = (checker.function.__doc__ or "").strip()
        checks.append(Check(f"{index}:{checker.id}", function, weight=checker.weight, moment=moment, title=title))
    return checks


def _function(
    checker: Checker,
    services: _Services,
    loop: asyncio.AbstractEventLoop,
    stage: int | None,
    attributes: dict[str, Any],
) -> Callable[[Scene], bool]:
    def check(scene: Scene) -> bool:
        with _workspace(services, scene, stage) as workspace:
            context = services.context(lambda: scene, None, workspace)
            for name, value in attributes.items():
                setattr(context, name, value)
            return bool(loop.run_until_complete(checker.function(context)))

    return check


@contextmanager
def _workspace(services: _Services, scene: Scene, stage: int | None) -> Iterator[Path | None]:
    if stage is None or "filesystem" not in services.task.environments:
        yield None
        return
    shown = scene.at(f"stage{stage}")
    with tracing(services.snapshots.lay_out(shown), shown) as path:
        yield path


def _result(task: Task, stages: list[StageResult], log: Log, judged: Any, helpful: bool) -> Result:
    result = Result(task.id, task.name, 0.0, 0.0, stages, head=log.head, records=len(log), helpful=helpful)
    if judged is None:
        return result
    result.rubric = _items(task, judged.checks)
    total = sum(item.weight for item in result.rubric)
    result.score = sum(item.weight for item in result.rubric if item.passed) / total if total else 0.0
    result.credit, result.exogenous, result.unattributed = judged.credit, judged.exogenous, judged.unattributed
    return result


def _items(task: Task, rows: list[dict[str, Any]]) -> list[Item]:
    items = []
    for row in rows:
        index, _, identity = row["id"].partition(":")
        checker = task.checkers[int(index)]
        stage = "final" if checker.stage is None else f"stage{checker.stage}"
        items.append(Item(identity, row["level"] >= 1.0, checker.weight, stage, row.get("error") or ""))
    return items


def _notification(task: Task, number: int, told: Any) -> str:
    text = told["notification"] + NOW.format(told["time"]) if isinstance(told, dict) else str(told)
    return f"{task.prompt}\n\n{text}" if number == 0 else text


def _told_time(told: Any) -> str | None:
    return told["time"] if isinstance(told, dict) else None


def _name(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower())[:64].strip("-") or "x"


def _zone(at: datetime) -> str:
    offset = at.utcoffset() or timedelta()
    hours = int(offset.total_seconds() // 3600)
    whole = offset == timedelta(hours=hours) and -12 <= hours <= 14
    # The signs of these names are the other way round (POSIX).
    return "UTC" if hours == 0 or not whole else f"Etc/GMT{-hours:+d}"
