"""Gymnasium's own checker, and the registration."""

import json
import subprocess
import sys

import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import dayshift.gym  # noqa: E402


def test_importing_dayshift_is_enough():
    program = "import dayshift, gymnasium; print(gymnasium.make('dayshift/payment-change-v1').reset(seed=7)[1]['day'])"
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert made.stdout.strip() == "mon", made.stderr


def test_gymnasiums_checker_finds_nothing():
    env = gymnasium.make("dayshift/support-resolution-v1")
    check_env(env.unwrapped, skip_render_check=True)


def test_every_scenario_is_registered_and_steps():
    for scenario in dayshift.scenarios():
        assert f"dayshift/{scenario}" in gymnasium.registry
    env = gymnasium.make("dayshift/support-resolution-v1")
    observation, info = env.reset(seed=7)
    assert json.loads(observation)["notices"] and info["request"]
    observation, reward, terminated, truncated, _ = env.step('{"tool": "mail.list", "arguments": {}}')
    assert json.loads(observation)["answer"] and not terminated and not truncated and isinstance(reward, float)


@pytest.mark.parametrize("action", ["hello", "[" * 100_000, '"text"', "{}", '{"tool": 3}'])
def test_a_text_that_is_no_action_is_refused_on_record(action):
    env = gymnasium.make("dayshift/support-resolution-v1")
    env.reset(seed=7)
    records = len(env.unwrapped.env.log)
    observation, *_ = env.step(action)
    assert json.loads(observation)["error"]["code"] == "call/unreadable-arguments"
    assert len(env.unwrapped.env.log) == records + 1


def test_an_episode_is_cut_off_after_its_steps():
    env = dayshift.gym.TextEnv("support-resolution-v1", steps_max=2)
    env.reset(seed=7)
    assert [env.step('{"say": ""}')[3] for _ in range(2)] == [False, True]
