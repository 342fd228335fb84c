"""Pausing and stopping brokers on the local stage."""

from __future__ import annotations

import pytest

from tests.contracts.paused_and_stopped import (
    test_a_paused_broker as test_a_paused_broker,
)
from tests.contracts.paused_and_stopped import (
    test_a_paused_broker_can_be_killed as test_a_paused_broker_can_be_killed,
)
from tests.contracts.paused_and_stopped import (
    test_a_stopped_broker_hands_over_first as test_a_stopped_broker_hands_over_first,
)

pytestmark = pytest.mark.integration
