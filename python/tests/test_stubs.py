"""The type stubs say what the module has: mypy's stubtest finds no difference."""

import subprocess
import sys

import pytest


def test_stubs_agree_with_the_module():
    pytest.importorskip("mypy")
    found = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "dayshift._dayshift"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
