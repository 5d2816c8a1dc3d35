"""Checks and personas written in Python: what they read through the scene is their evidence."""

import pytest

import dayshift


def wrote_note(scene: dayshift.Scene) -> bool:
    return scene.file("/note.txt") == b"hello"


def quiet(scene: dayshift.Scene) -> float:
    return 1.0 if not scene.calls("mail.send") else 0.25


def test_a_check_of_python_is_credited_to_the_turn_that_it_read_of(scenario):
    checks = [dayshift.Check("note", wrote_note, weight=3.0, title="A note."), dayshift.Check("quiet", quiet)]
    episode = scenario.with_checks(checks).start(seed=1)
    episode.say("Looking.")
    episode.call("mail.list")
    episode.say("Writing.")
    episode.call("files.write", path="/note.txt", text="hello")
    report = episode.grade()
    assert report.score == 1.0
    (note,) = (row for row in report.checks if row["id"] == "note")
    assert any(evidence["key"] == "files:/note.txt" and evidence["turn"] == 2 for evidence in note["evidence"])
    assert episode.credit().by_turn() == {1: 0.0, 2: pytest.approx(0.75)}


def test_a_day_that_is_over_is_seen_as_it_was(scenario):
    day = scenario.days[0]
    seen = []

    def check(scene: dayshift.Scene) -> bool:
        seen.append((scene.file("/note.txt"), scene.at(day).file("/note.txt")))
        return True

    episode = scenario.with_checks([dayshift.Check("c", check)]).start(seed=1)
    episode.call("files.write", path="/note.txt", text="one")
    episode.hand_over()
    episode.call("files.write", path="/note.txt", text="two")
    episode.grade()
    assert seen[-1] == (b"two", b"one")


def test_a_check_that_fails_says_where(scenario):
    def broken(scene: dayshift.Scene) -> bool:
        return scene.ask("mail.nonsense")

    episode = scenario.with_checks([dayshift.Check("broken", broken)]).start(seed=1)
    (row,) = episode.grade().checks
    assert row["level"] == 0.0 and "test_scripts.py:" in row["error"] and "mail" in row["error"]


@pytest.mark.parametrize("options", [{"moment": "end of never"}, {"red_line": 0.5}])
def test_a_moment_that_makes_no_sense_is_refused(scenario, options):
    with pytest.raises(ValueError):
        scenario.with_checks([dayshift.Check("c", quiet, **options)])


def test_a_persona_of_python_answers():
    looks = []

    def sofia(memory, scene: dayshift.Scene):
        looks.append(memory)
        if not scene.ask("chat.messages", conversation="robin+sofia"):
            return None
        answer = {"tool": "chat.send", "arguments": {"with": "robin", "text": f"answer {len(looks)}"}}
        return {"memory": {"looks": len(looks)}, "do": [answer]}

    episode = dayshift.Scenario("payment-change-v1").with_personas({"sofia": sofia}).start(seed=1)
    episode.call("chat.send", **{"with": "sofia", "text": "hello?"})
    episode.hand_over()
    episode.call("chat.send", **{"with": "sofia", "text": "and now?"})
    episode.hand_over()
    answers = [record for record in episode.log.records() if record["actor"] == "persona:sofia" and record["tool"]]
    assert [record["arguments"]["text"] for record in answers] == [f"answer {number}" for number in range(1, len(looks) + 1)]
    assert len(looks) >= 2 and looks[-1] == {"looks": len(looks) - 1}


def test_an_unknown_persona_is_refused(scenario):
    with pytest.raises(KeyError):
        scenario.with_personas({"nobody": lambda memory, scene: None})


def test_what_is_staged_from_outside_is_recorded_and_replayed(scenario, tmp_path):
    episode = scenario.start(seed=1)
    name = episode.blob(b"x" * 5000)
    episode.stage("morning", "files.import", {"path": "/in/big.txt", "blob": name})
    episode.tell("morning", "A file came in.")
    assert episode.call("files.stat", path="/in/big.txt")["bytes"] == 5000
    with pytest.raises(dayshift.Rejected):
        episode.stage("morning", "files.delete", {"path": "/nowhere"})
    staged = [record for record in episode.log.records() if record["event"] == "outside:morning"]
    assert [record["kind"] for record in staged] == ["call", "notify", "call"]
    path = tmp_path / "staged.dayshift"
    episode.log.save(path)
    assert dayshift.replay(path) == len(episode)


def test_replay_says_where_a_log_comes_out_otherwise(tmp_path):
    scenario = dayshift.Scenario("payment-change-v1")
    other = scenario.with_personas({"sofia": lambda memory, scene: {"memory": 1, "wake_seconds": 60}})
    episode = other.start(seed=1)
    episode.call("chat.send", **{"with": "sofia", "text": "hello?"})
    episode.hand_over()
    path = tmp_path / "other.dayshift"
    episode.log.save(path)
    with pytest.raises(dayshift.Divergence) as raised:
        dayshift.replay(path)
    assert raised.value.record > 0 and raised.value.differences
