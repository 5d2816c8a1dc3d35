"""Tasks in the benchmark's shape: stages as events, checkers as checks, logs that replay to the same verdicts."""

import json
import os
from pathlib import Path

import clawmark_reference
import pytest

import dayshift
from dayshift import clawmark
from dayshift.clawmark.__main__ import main
from dayshift.clawmark.runner import StageResult

TASKS = Path(__file__).parent / "tasks"

BY_THE_SEEDS = {"files", "rows", "cells", "events", "mails", "unknown_calendar", "injected", "moved"}


class Clerk:
    """Writes the report once the orders are complete, and mails that it is done."""

    async def act(self, notification: str, tools: clawmark.Tools) -> None:
        if "More." not in notification:
            return
        await tools.say("I read both lists.")
        one = await tools.call("files.read", path="/workspace/input/orders.csv")
        more = await tools.call("files.read", path="/workspace/input/more.csv")
        await tools.say("I write the report.")
        await tools.call("files.write", path="/workspace/outputs/report.csv", text=one["text"] + more["text"])
        await tools.say("I tell the boss.")
        await tools.call("mail.send", to=[tools.users["boss"]], subject="Done", body="See the report.")


def load(name: str) -> clawmark.Task:
    return clawmark.load_task(TASKS / name / "task.py", root=TASKS)


def passed(result: clawmark.Result) -> set[str]:
    return {item.item_id for item in result.rubric if item.passed}


def test_an_agent_that_does_nothing_gets_what_the_seeds_give():
    result = clawmark.run_task(load("demo/task1"), clawmark.Noop())
    assert not result.error and all(stage.success for stage in result.stages)
    assert passed(result) == BY_THE_SEEDS
    weights = {item.item_id: item.weight for item in result.rubric}
    assert result.score == pytest.approx(sum(weights[name] for name in BY_THE_SEEDS) / sum(weights.values()))
    (broken,) = (item for item in result.rubric if item.item_id == "raises")
    assert "a checker that breaks" in broken.detail


def test_an_agents_work_is_seen_and_credited_to_its_turns(tmp_path):
    result = clawmark.run_task(load("demo/task1"), Clerk(), out=tmp_path)
    assert passed(result) == BY_THE_SEEDS - {"files"} | {"files", "agent_wrote", "agent_mailed", "newest"}
    credit = {row["turn"]: row["amount"] for row in result.credit}
    total = sum(item.weight for item in result.rubric)
    log = dayshift.load(tmp_path / "log.dayshift")
    turns = {record["tool"]: record["turn"] for record in log.records() if record["actor"] == "agent" and record["tool"]}
    # The report and its being the newest file, and the mail, each go to the turn that did it, shared with what it read.
    reading, writing, mailing = turns["files.read"], turns["files.write"], turns["mail.send"]
    assert sum(credit.values()) == pytest.approx((2.0 + 1.0 + 3.0) / total)
    assert credit[mailing] > credit[reading] > 0 and credit[writing] > credit[reading]


def test_a_log_alone_gives_the_same_verdicts(tmp_path):
    task = load("demo/task1")
    result = clawmark.run_task(task, Clerk(), out=tmp_path)
    path = tmp_path / "log.dayshift"
    assert dayshift.verify(path) == dayshift.replay(path) == result.records
    stages = [StageResult(stage.id, stage.success) for stage in result.stages]
    again = clawmark.regrade(task, dayshift.load(path), stages)
    # What a stage left on ctx is not in the log; `moved` asks for it.
    assert {item.item_id for item in again if item.passed} == passed(result) - {"moved"}


def test_two_runs_give_one_log():
    heads = {clawmark.run_task(load("demo/task1"), clawmark.Busy()).head for _ in range(2)}
    assert len(heads) == 1


def test_a_busy_agent_reaches_every_service(tmp_path):
    result = clawmark.run_task(load("demo/task1"), clawmark.Busy(), out=tmp_path)
    assert not result.error and all(stage.success for stage in result.stages)
    records = dayshift.load(tmp_path / "log.dayshift").records()
    wrote = {record["tool"] for record in records if record["actor"] == "agent" and not record["refused"]}
    assert {"files.write", "mail.send", "knowledge.create_row", "knowledge.update_row", "sheets.write", "calendar.create"} <= wrote


def test_a_stage_that_breaks_skips_the_rest_and_shrinks_the_denominator():
    result = clawmark.run_task(load("demo/task2"), clawmark.Noop())
    assert [(stage.id, stage.success) for stage in result.stages] == [("stage0", True), ("stage1", False)]
    assert "a stage that breaks" in result.stages[1].error
    assert [item.item_id for item in result.rubric] == ["empty", "half"]
    assert passed(result) == {"empty", "half"} and result.score == 1.0


def test_helpful_lets_vanished_injections_land():
    result = clawmark.run_task(load("demo/task1"), clawmark.Noop(), helpful=True)
    assert "injected" not in passed(result) and result.helpful


def test_a_file_that_is_no_task_is_reported_and_stops_nothing(tmp_path, capsys):
    assert main(["run", str(TASKS), "--out", str(tmp_path), "--jobs", "1", "--json"]) == 1
    summary = json.loads(capsys.readouterr().out)
    assert summary["tasks"] == 3 and [row["task"] for row in summary["errors"]] == ["demo/task3"]
    assert [row["stage"] for row in summary["failed_stages"]] == ["stage1"]
    written = json.loads((tmp_path / "demo/task1/result.json").read_text())
    assert written["task_id"] == "demo_task1" and {"item_id", "passed", "weight"} <= set(written["rubric"][0])
    assert {"score", "execution_time", "stages"} <= set(written)


def test_what_cannot_be_run_is_one_sentence(tmp_path, capsys):
    assert main(["run", str(tmp_path)]) == 2
    assert main(["run", str(TASKS), "--task", "demo/task9"]) == 2
    assert main(["run", str(TASKS), "--agent", "nobody"]) == 2
    assert capsys.readouterr().err.count("error: ") == 3


def differences(path: Path, root: Path, scratch: Path) -> list[str]:
    """Returns where a task played on the office comes out otherwise than on the reference, which shares no code with it."""
    result = clawmark.run_task(clawmark.load_task(path, root=root), clawmark.Noop())
    expected = clawmark_reference.run(path, scratch)
    stages = [(stage.id, stage.success) for stage in result.stages]
    verdicts = sorted((item.stage, item.item_id, item.passed) for item in result.rubric)
    other = set(stages) ^ {(stage["id"], stage["success"]) for stage in expected["stages"]}
    other |= set(verdicts) ^ {(item["stage"], item["item_id"], item["passed"]) for item in expected["rubric"]}
    assert len(verdicts) == len(expected["rubric"])
    return [f"{path.parent.name}: {each}" for each in sorted(other, key=str)]


@pytest.mark.parametrize("name", ["demo/task1", "demo/task2"])
def test_verdicts_are_those_of_the_reference(name, tmp_path):
    assert differences(TASKS / name / "task.py", TASKS, tmp_path) == []


def test_the_whole_benchmark(tmp_path):
    folder = os.environ.get("DAYSHIFT_CLAWMARK_TASKS")
    if not folder:
        pytest.skip("set DAYSHIFT_CLAWMARK_TASKS to the tasks folder of a ClawMark checkout to run all of it")
    root = Path(folder)
    paths = clawmark.find_tasks(root)
    assert len(paths) == 100
    scratch = [tmp_path / str(number) for number in range(len(paths))]
    assert [each for path, folder in zip(paths, scratch) for each in differences(path, root, folder)] == []
    results = [clawmark.run_task(clawmark.load_task(path, root=root), clawmark.Noop()) for path in paths]
    assert sum(len(result.rubric) for result in results) == 1537
    assert all(stage.success for result in results for stage in result.stages)
