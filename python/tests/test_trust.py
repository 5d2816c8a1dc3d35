"""What a report rests on, and signatures, as a Python program meets them."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

import dayshift
from dayshift import clawmark


def finished(scenario, **options):
    episode = scenario.start(seed=1, **options)
    while not episode.closed:
        episode.hand_over()
    return episode


def test_an_episode_of_ones_own_is_graded_live_and_its_log_is_executed_again(scenario):
    episode = finished(scenario)
    assert episode.grade().provenance["execution"] == "live"
    assert episode.log.grade().provenance["execution"] == "again"
    assert episode.log.credit().provenance["execution"] == "again"
    assert episode.log.grade(trust=True).provenance["execution"] == "trusted"


def test_what_somebody_staged_is_counted_and_does_not_pass(scenario):
    episode = scenario.start(seed=1)
    episode.tell("hint", "The answer is 7.")
    report = episode.log.grade()
    assert report.provenance["outside"] == {"acts": 1, "allowed": False}
    assert [objection["code"] for objection in report.provenance["objections"]] == ["provenance/outside-not-allowed"]
    assert not report.passed


def test_checks_of_python_are_said_to_be_functions_of_the_program(scenario):
    episode = finished(scenario.with_checks([dayshift.Check("any", lambda scene: True)]))
    assert episode.grade().provenance["checks"] == {"digest": None, "own": False}
    assert episode.grade().passed


def test_a_key_signs_and_a_reader_names_the_keys_to_trust(scenario, tmp_path):
    key = dayshift.Key.create(tmp_path / "key.pem")
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    assert dayshift.Key(tmp_path / "key.pem").public == key.public
    log = finished(scenario).log.sign(key)
    path = tmp_path / "run.dayshift"
    log.save(path)
    read = dayshift.load(path)
    for trusted in (key.public, str(tmp_path / "key.pem.pub")):
        assert dayshift.verify(path, keys=[trusted], head=log.head) == len(log)
        found = read.grade(keys=[trusted], require_signature=True).provenance
        assert found["signature"] == {"state": "valid", "key": key.public, "trusted": True}
        assert found["claimed"] == []
    other = dayshift.Key.create(tmp_path / "other.pem")
    found = read.grade(keys=[other.public], require_signature=True)
    assert not found.passed and found.provenance["objections"][0]["code"] == "provenance/unknown-key"
    with pytest.raises(dayshift.StoreFailed) as raised:
        dayshift.verify(path, keys=[other.public])
    assert raised.value.code == "verify/unknown-key"
    with pytest.raises(dayshift.StoreFailed) as raised:
        dayshift.verify(path, head="0" * 64)
    assert raised.value.code == "verify/another-head"
    with pytest.raises(ValueError):
        read.grade(require_signature=True)


def test_an_unfinished_episode_cannot_be_signed(scenario, tmp_path):
    key = dayshift.Key.create(tmp_path / "key.pem")
    with pytest.raises(dayshift.DayshiftError) as raised:
        scenario.start(seed=1).log.sign(key)
    assert raised.value.code == "run/unfinished"


def test_a_store_with_a_key_signs_what_ends_in_it(scenario, tmp_path):
    key = dayshift.Key.create(tmp_path / "key.pem")
    store = dayshift.Store(tmp_path / "store", key=key)
    env = dayshift.make(scenario, store=store)
    env.reset(seed=1)
    while not env.episode.closed:
        env.hand_over()
    env.close()
    found = store.load("last").grade(keys=[key.public], require_signature=True).provenance
    assert found["signature"]["trusted"]
    assert "score" in store.runs()[0]["claimed"]


def test_a_signature_can_be_checked_by_another_library(scenario, tmp_path):
    pytest.importorskip("cryptography")
    key = dayshift.Key.create(tmp_path / "key.pem")
    program = (
        "import sys\n"
        "from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key\n"
        "private = load_pem_private_key(open(sys.argv[1], 'rb').read(), None)\n"
        "public = load_pem_public_key(open(sys.argv[1] + '.pub', 'rb').read())\n"
        "public.verify(private.sign(b'x'), b'x')\n"
        "print(__import__('base64').b64encode(public.public_bytes_raw()).decode())\n"
    )
    run = [sys.executable, "-c", program, str(tmp_path / "key.pem")]
    printed = subprocess.run(run, capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == key.public


def test_a_staged_task_says_so(tmp_path):
    root = Path(__file__).parent / "tasks"
    clawmark.run_task(clawmark.load_task(root / "demo" / "task1" / "task.py", root=root), clawmark.Noop(), out=tmp_path)
    found = dayshift.load(tmp_path / "log.dayshift").grade().provenance
    assert found["outside"]["acts"] > 0 and found["outside"]["allowed"]
    assert found["objections"] == []
    assert found["scenario"]["package"] == "unknown"
