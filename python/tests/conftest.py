"""What the tests share."""

import pytest

import dayshift


@pytest.fixture(scope="session")
def scenario() -> dayshift.Scenario:
    return dayshift.Scenario("support-resolution-v1")
