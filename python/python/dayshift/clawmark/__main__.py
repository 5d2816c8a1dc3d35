"""`python -m dayshift.clawmark run TASKS_DIR`: runs tasks and writes what came of them."""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import dayshift

from .agents import find_agent
from .runner import Result, StageResult, regrade, run_task
from .tasks import LoadError, find_tasks, load_task


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dayshift.clawmark", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="play tasks and grade them")
    run.add_argument("tasks", type=Path, help="the tasks folder of a ClawMark checkout")
    run.add_argument("--task", help="only this one, such as hr/task5, or all of a domain, such as hr")
    run.add_argument("--agent", default="noop", help="noop, busy, or module:Class (default: %(default)s)")
    run.add_argument("--out", type=Path, help="a folder for results and logs, one below it for each task")
    run.add_argument("--helpful", action="store_true", help="let injections land that vanish in the original")
    run.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many tasks at once (default: all cores)")
    run.add_argument("--verify", action="store_true", help="also verify and replay every log and grade it once more")
    run.add_argument("--json", action="store_true", help="print the summary as JSON")
    options = parser.parse_args(arguments)
    try:
        find_agent(options.agent)
    except (ValueError, ImportError, AttributeError) as error:
        return _could_not(str(error))
    paths = [path for path in find_tasks(options.tasks) if _wanted(path, options.tasks, options.task)]
    if not paths:
        what = f"the task {options.task!r}" if options.task else "a task.py"
        return _could_not(f"there is no {what} below {options.tasks}")
    started = time.perf_counter()
    results = _run_all(paths, options)
    elapsed = time.perf_counter() - started
    if options.out:
        rows = [{"task": result.task, "score": result.score, "head": result.head} for result in results]
        (options.out / "summary.json").write_text(json.dumps(rows, indent=2), encoding="utf-8")
    _tell(results, elapsed, as_json=options.json)
    return 0 if all(not result.error for result in results) else 1


def _could_not(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return 2


def _wanted(path: Path, root: Path, task: str | None) -> bool:
    name = path.parent.relative_to(root).as_posix()
    return task is None or name == task or name.startswith(f"{task}/")


def _run_all(paths: list[Path], options: argparse.Namespace) -> list[Result]:
    work = [(path, options.tasks, options.agent, options.helpful, options.out, options.verify) for path in paths]
    results: dict[int, Result] = {}
    with _progress(len(work)) as advance:
        if options.jobs <= 1 or len(work) == 1:
            for index, each in enumerate(work):
                results[index] = _run_one(*each)
                advance(results[index].task)
        else:
            with ProcessPoolExecutor(max_workers=options.jobs) as pool:
                waiting = {pool.submit(_run_one, *each): index for index, each in enumerate(work)}
                for done in as_completed(waiting):
                    results[waiting[done]] = done.result()
                    advance(done.result().task)
    return [results[index] for index in range(len(work))]


def _run_one(path: Path, root: Path, agent: str, helpful: bool, out: Path | None, verify: bool) -> Result:
    name = path.parent.relative_to(root).as_posix()
    try:
        task = load_task(path, root=root)
    except LoadError as error:
        return Result(name, name, 0.0, 0.0, error=str(error))
    folder = out / name if out else None
    result = run_task(task, find_agent(agent)(), name=agent, helpful=helpful, out=folder)
    if verify and folder and not result.error:
        result.error = _verified(task, folder, result, helpful)
    return result


def _verified(task, folder: Path, result: Result, helpful: bool) -> str:
    """Returns what is wrong with a log: nothing, if it verifies, replays to the same bytes and gives the same verdicts from itself alone."""
    path = folder / "log.dayshift"
    try:
        dayshift.verify(path)
        dayshift.replay(path)
    except dayshift.DayshiftError as error:
        return f"{type(error).__name__}: {error}"
    stages = [StageResult(stage.id, stage.success, stage.error) for stage in result.stages]
    again = regrade(task, dayshift.load(path), stages, helpful=helpful)
    other = [item.item_id for item, before in zip(again, result.rubric, strict=True) if item.passed != before.passed]
    return f"graded from the log alone, {', '.join(other)} come out otherwise" if other else ""


class _progress:
    """A bar on stderr, with tqdm where it is installed, otherwise a line a task on a terminal."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0

    def __enter__(self):
        try:
            from tqdm import tqdm

            self.bar = tqdm(total=self.total, unit="task", disable=None)
        except ImportError:
            self.bar = None
        return self.advance

    def advance(self, name: str) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.set_postfix_str(name, refresh=False)
            self.bar.update()
        elif sys.stderr.isatty():
            print(f"{self.done}/{self.total} {name}", file=sys.stderr)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


def _tell(results: list[Result], elapsed: float, *, as_json: bool) -> None:
    passed = sum(item.passed for result in results for item in result.rubric)
    checkers = sum(len(result.rubric) for result in results)
    failed = [(result.task, stage) for result in results for stage in result.stages if not stage.success]
    errors = [result for result in results if result.error]
    if as_json:
        summary = {
            "tasks": len(results),
            "checkers": checkers,
            "passed": passed,
            "failed_stages": [{"task": task, "stage": stage.id, "error": stage.error} for task, stage in failed],
            "errors": [{"task": result.task, "error": result.error} for result in errors],
            "seconds": round(elapsed, 2),
            "scores": {result.task: result.score for result in results},
        }
        print(json.dumps(summary, ensure_ascii=False, indent=2))
        return
    domains: dict[str, list[Result]] = {}
    for result in results:
        domains.setdefault(result.task.rpartition("/")[0], []).append(result)
    print(f"{'domain':<24}{'tasks':>7}{'checkers':>10}{'passed':>8}{'score':>8}{'seconds':>9}")
    for domain, group in [*domains.items(), ("all", results)]:
        items = [item for result in group for item in result.rubric]
        mean = sum(result.score for result in group) / len(group)
        seconds = sum(result.execution_time for result in group)
        print(f"{domain:<24}{len(group):>7}{len(items):>10}{sum(item.passed for item in items):>8}{mean:>8.3f}{seconds:>9.1f}")
    for task, stage in failed:
        print(f"{task}: {stage.id} failed: {stage.error}")
    for result in errors:
        print(f"{result.task}: {result.error}")
    print(f"{len(results)} tasks, {passed} of {checkers} checkers passed, in {elapsed:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
