"""KafkaJS under the schedules of the other transactional producers.

Its outcome is chance, so it is no scenario of `onceproof list`: see kafkajs-sends-again.md.
"""

from onceproof.harness.workload.senders.kafkajs import KAFKAJS
from onceproof.scenarios.transactional_producers import of_client

SCENARIOS = of_client(KAFKAJS)
