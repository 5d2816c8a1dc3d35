"""Scripts of packages that are not installed: whatever they do, this process goes on."""

import os

import pytest

import dayshift

YAML = b"""id: hostile-v1
title: Hostile
request: Nothing.
requirements: [{id: any, text: Anything.}]
agent: {name: ann, address: ann@acme.example}
office: {zone: Europe/Berlin}
epoch: 2026-03-16 08:00
days: [{name: mon, opens: "09:00", ends: "17:00", notification: Monday.}]
checks: [{id: level, title: A level, requirement: any}]
"""

NESTED = "X = ()\nfor i in range(400000):\n    X = ((X,),)\n"
DEEP = "    x = ()\n    for i in range(400000):\n        x = ((x,),)\n"
SHARED = '    x = ["a"]\n    for i in range(60):\n        x = [x, x]\n'


def package(checks: str) -> dayshift.Scenario:
    return dayshift.Scenario.from_files("hostile-v1", {"scenario.yaml": YAML, "checks.star": checks.encode()})


def level(checks: str) -> dict:
    (row,) = package(checks).start(seed=1).grade().checks
    return row


def test_a_script_of_a_package_is_evaluated_as_it_always_was():
    assert level("def level():\n    return 0.25\n")["level"] == 0.25


def test_tuples_that_nest_refuse_the_package():
    with pytest.raises(dayshift.BadScenario, match="checks.star"):
        package(f"{NESTED}\ndef level():\n    return True\n")
    assert level("def level():\n    return True\n")["level"] == 1.0


@pytest.mark.parametrize(
    "body",
    [
        f"{DEEP}    return len({{x: 1}}) == 1\n",
        f"{SHARED}    return len(str(x)) > 0\n",
        f"{SHARED}    return x == [x[0], x[1]] and x < x\n",
    ],
)
def test_a_check_that_goes_too_far_fails_and_says_which(body):
    row = level(f"def level():\n{body}")
    assert "checks.star" in str(row), row
    assert level("def level():\n    return True\n")["level"] == 1.0


def test_a_process_that_was_forked_has_processes_of_its_own():
    scenario = package("def level():\n    return 0.5\n")
    assert scenario.start(seed=1).grade().checks[0]["level"] == 0.5
    child = os.fork()
    if child == 0:
        os._exit(0 if scenario.start(seed=2).grade().checks[0]["level"] == 0.5 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert scenario.start(seed=3).grade().checks[0]["level"] == 0.5
