"""The environment: five-tuples, rewards, forks, grades, credit and logs."""

import asyncio
import subprocess
import sys
import textwrap

import pytest

import dayshift
import dayshift.aio

LIST = {"tool": "mail.list", "arguments": {}}


def play_to_end(env: dayshift.Env) -> float:
    total, terminated = 0.0, False
    while not terminated:
        _, reward, terminated, _, _ = env.hand_over()
        total += reward
    return total


def test_a_step_is_gymnasiums_five_tuple(scenario):
    env = dayshift.make(scenario)
    observation, info = env.reset(seed=7)
    assert observation["notices"] and info["request"] == scenario.request
    observation, reward, terminated, truncated, info = env.step(LIST)
    assert observation["error"] is None and observation["answer"]["messages"]
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["day"] == scenario.days[0] and info["record"] > 0


def test_the_same_seed_gives_the_same_log(scenario):
    def head(seed: int) -> str:
        env = dayshift.make(scenario)
        env.reset(seed=seed)
        env.step(LIST)
        env.say("Done for today.", hand_over=True)
        return env.log.head

    assert head(7) == head(7)
    assert head(7) != head(8)


def test_a_refused_call_is_answered_in_the_observation_and_raised_by_the_episode(scenario):
    env = dayshift.make(scenario)
    env.reset(seed=1)
    observation, *_ = env.step({"tool": "files.read", "arguments": {"path": "/nowhere.txt"}})
    assert observation["answer"] is None and observation["error"]["code"] == "files/not-found"
    with pytest.raises(dayshift.Rejected) as raised:
        env.episode.call("files.read", path="/nowhere.txt")
    assert raised.value.code == "files/not-found" and raised.value.message


def test_an_action_that_is_none_is_a_python_error_and_not_recorded(scenario):
    env = dayshift.make(scenario)
    env.reset(seed=1)
    records = len(env.log)
    for action in ({}, {"tool": 3}, {"tool": "mail.list", "arguments": {"x": object()}}, "mail.list"):
        with pytest.raises((TypeError, ValueError)):
            env.step(action)
    assert len(env.log) == records


def nested(levels):
    value = None
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**5000, float("nan"), float("inf"), "\ud800", nested(10_000)], ids=str.split("over under huge nan infinity surrogate deep"))
def test_arguments_that_no_record_holds_are_refused_on_record(scenario, value):
    env = dayshift.make(scenario)
    env.reset(seed=1)
    records = len(env.log)
    observation, *_ = env.step({"tool": "mail.search", "arguments": {"query": value}})
    assert observation["error"]["code"] == "call/unreadable-arguments"
    assert len(env.log) == records + 1 and env.log.replay() == len(env.log)


def test_a_long_message_is_recorded_as_far_as_it_goes_and_surrogates_are_replaced(scenario):
    env = dayshift.make(scenario)
    env.reset(seed=1)
    env.step({"say": "x" * 3_000_000})
    env.step({"say": "a\ud800b"})
    env.say("c\udc00d")
    said = [record["text"] for record in env.log.records() if record["kind"] == "message"]
    assert len(said[0]) == 1 << 20 and said[0].endswith("are recorded]")
    assert [text.replace("\ufffd", "?").replace("??", "?").replace("??", "?") for text in said[1:]] == ["a?b", "c?d"]
    assert env.log.replay() == len(env.log)


@pytest.mark.parametrize("reward", ["final", "day", "step"])
def test_rewards_sum_to_the_score(scenario, reward):
    env = dayshift.make(scenario, reward=reward)
    env.reset(seed=7)
    total = play_to_end(env)
    report = env.grade()
    assert report.finished and total == pytest.approx(report.score)


def test_a_fork_goes_its_own_way(scenario):
    env = dayshift.make(scenario)
    env.reset(seed=7)
    branch = env.fork()
    branch.step(LIST)
    assert len(branch.log) == len(env.log) + 1
    env.step(LIST)
    assert branch.log.head == env.log.head


def test_a_log_is_saved_verified_and_replayed(scenario, tmp_path):
    env = dayshift.make(scenario)
    env.reset(seed=7)
    env.step(LIST)
    play_to_end(env)
    path = tmp_path / "run.dayshift"
    env.log.save(path)
    assert dayshift.verify(path) == dayshift.replay(path) == len(env.log)
    loaded = dayshift.load(path)
    assert loaded.head == env.log.head
    assert loaded.grade().to_dict()["checks"] == env.grade().to_dict()["checks"]
    assert [record["tool"] for record in loaded.records() if record["actor"] == "agent"][:1] == ["mail.list"]


def test_an_altered_log_is_refused(scenario, tmp_path):
    env = dayshift.make(scenario)
    env.reset(seed=7)
    path = tmp_path / "run.dayshift"
    env.log.save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(dayshift.StoreFailed):
        dayshift.verify(path)


def test_credit_sums_to_what_the_score_moved(scenario):
    env = dayshift.make(scenario)
    env.reset(seed=7)
    start = env.grade().score
    env.step(LIST)
    play_to_end(env)
    credit = env.credit()
    moved = sum(credit.by_turn().values()) + credit.exogenous
    assert moved == pytest.approx(env.grade().uncapped - start)
    assert set(credit.by_turn()) <= set(range(1, credit.turns + 1))


def test_errors_are_a_small_hierarchy(scenario, tmp_path):
    with pytest.raises(dayshift.BadScenario) as raised:
        dayshift.make("no-such-scenario-v1")
    assert raised.value.problems and raised.value.code == "scenario/bad"
    env = dayshift.make(scenario)
    with pytest.raises(dayshift.Closed):
        env.step(LIST)
    env.reset(seed=1)
    play_to_end(env)
    with pytest.raises(dayshift.Closed):
        env.step(LIST)
    with pytest.raises(dayshift.StoreFailed):
        dayshift.load(tmp_path / "missing.dayshift")
    for error in (dayshift.BadScenario, dayshift.Closed, dayshift.Rejected, dayshift.Divergence, dayshift.StoreFailed):
        assert issubclass(error, dayshift.DayshiftError)


def test_a_program_that_dies_leaves_a_store_that_opens(tmp_path):
    program = textwrap.dedent(
        """
        import os, sys, dayshift
        env = dayshift.make("support-resolution-v1", store=sys.argv[1])
        _, info = env.reset(seed=7)
        env.step({"tool": "mail.list", "arguments": {}})
        env.say("This much is durable.")
        print(info["run"], len(env.log), flush=True)
        env.step({"tool": "mail.list", "arguments": {}})
        os.kill(os.getpid(), 9)
        """
    )
    store = tmp_path / "store"
    died = subprocess.run([sys.executable, "-c", program, str(store)], capture_output=True, text=True)
    assert died.returncode == -9, died.stderr
    run, records = died.stdout.split()
    opened = dayshift.Store(store)
    rows = opened.runs()
    assert [row["run"] for row in rows] == [run] and not rows[0]["finished"]
    assert opened.verify(run) >= int(records)
    assert opened.load(run).replay() == rows[0]["records"]


def test_a_stored_episode_is_finished_with_its_score(scenario, tmp_path):
    store = dayshift.Store(tmp_path / "store")
    env = dayshift.make(scenario, store=store)
    env.reset(seed=7, options={"agent": "mine"})
    score = play_to_end(env)
    (row,) = store.runs()
    assert row["finished"] and row["agent"] == "mine" and row["score"] == pytest.approx(score)
    assert store.load("last").head == env.log.head


def test_the_asyncio_twin_does_the_same(scenario):
    async def play() -> str:
        env = dayshift.aio.make(scenario)
        await env.reset(seed=7)
        branch = await env.fork()
        await asyncio.gather(env.step(LIST), branch.step(LIST))
        assert env.log.head == branch.log.head
        return env.log.head

    env = dayshift.make(scenario)
    env.reset(seed=7)
    env.step(LIST)
    assert asyncio.run(play()) == env.log.head


def test_a_vector_does_what_single_environments_do(scenario):
    vector = dayshift.VectorEnv(scenario, 4, threads=2, reward="step")
    observations, _ = vector.reset(seeds=[1, 2, 3, 3])
    assert len(observations) == len(vector) == 4
    steps = vector.step([LIST, [LIST, LIST], None, {"hand_over": ""}])
    assert steps[2] is None and steps[0][0]["answer"] == steps[1][0]["answer"]
    heads = [episode.head for episode in vector.episodes]
    env = dayshift.make(scenario)
    env.reset(seed=2)
    env.step(LIST)
    env.step(LIST)
    assert heads[1] == env.log.head and heads[0] != heads[1]


def test_tools_are_json_schemas(scenario):
    tools = {tool["name"]: tool for tool in dayshift.make(scenario).tools()}
    assert tools["mail.send"]["parameters"]["type"] == "object"
    assert "to" in tools["mail.send"]["parameters"]["required"] and tools["mail.send"]["description"]
    # Backstage, and off in this scenario.
    assert "mail.deliver" not in tools and "shell.run" not in tools
