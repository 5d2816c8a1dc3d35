"""What the binding adds to a call, and what threads give a vector of environments. Run with dayshift installed:

    python python/benches/overhead.py [PROGRAM]

PROGRAM is the built example `calls` (`cargo build --release -p dayshift-python --example calls`); it makes the same calls without Python.
"""

import subprocess
import sys
import time

import dayshift

COUNT = 20_000
CALLS_A_FORK = 50
CALL = {"tool": "files.stat", "arguments": {"path": "/policies/payment-policy.md"}}
READS = [{"tool": "mail.list", "arguments": {}}, {"tool": "files.find", "arguments": {"pattern": "*.md"}}]


def best(work, rounds: int = 5) -> float:
    """Returns the shortest time of several rounds, in seconds."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def steps() -> None:
    origin = dayshift.make(scenario, reward="none")
    origin.reset(seed=7)
    for number in range(COUNT):
        if number % CALLS_A_FORK == 0:
            env = origin.fork()
        env.step(CALL)


def calls() -> None:
    origin = scenario.start(seed=7, reward="none")
    for number in range(COUNT):
        if number % CALLS_A_FORK == 0:
            episode = origin.fork()
        episode.call("files.stat", path="/policies/payment-policy.md")


def vector(threads: int, reward: str, actions: list) -> float:
    envs = dayshift.VectorEnv(scenario, 64, threads=threads, reward=reward)
    envs.reset()

    def work() -> None:
        for _ in range(20):
            envs.step([[{"say": ""}, *actions]] * 64)

    return best(work, 3)


scenario = dayshift.Scenario("payment-change-v1")
if len(sys.argv) > 1:
    baseline = float(subprocess.run([sys.argv[1], str(COUNT)], capture_output=True, text=True, check=True).stdout)
    print(f"a call in Rust      {baseline:6.2f} µs")
    for name, work in (("Episode.call", calls), ("Env.step", steps)):
        took = best(work) / COUNT * 1e6
        print(f"{name:<20}{took:6.2f} µs: {took - baseline:.2f} µs more")
for name, reward, actions in (
    ("one small call", "none", [CALL]),
    ("a turn of listings", "none", READS * 4),
    ("the same, rewarded", "step", READS * 4),
):
    one, two = vector(1, reward, actions), vector(2, reward, actions)
    print(f"64 episodes, {name:<20} 1 thread {one * 1e3:7.1f} ms, 2 threads {two * 1e3:7.1f} ms: {one / two:.2f} times")
