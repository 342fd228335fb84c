"""Tables of the tests, or others, that execute the blocks and commands of the documentation.

`test_docs_snippets` and `test_docs_commands` fail for what is in no table, and for an entry that no
page needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tests.unit.docs.pages import blocks, typed

TUTORIAL = "docs/tutorial/test-your-pipeline.md"
SPARK = "docs/how-to/test-a-spark-job.md"
QUEUE = "docs/how-to/test-a-program-that-writes-to-a-queue.md"
HTTP = "docs/how-to/test-a-program-that-calls-a-web-service.md"
AVRO = "docs/how-to/test-a-program-that-reads-avro.md"
FLINK = "docs/how-to/test-a-flink-job.md"
DATABASE = "docs/how-to/test-a-consumer-with-a-database.md"
SEVERAL = "docs/how-to/test-a-pipeline-with-several-inputs.md"
IN_TESTS = "docs/how-to/faults-in-your-tests.md"
GATE = "docs/how-to/hit-one-message.md"
SUBJECT = "docs/how-to/add-a-subject-or-scenario.md"
SECTION = "docs/how-to/add-a-report-section.md"
FOREIGN = "docs/how-to/check-a-foreign-history.md"
HISTORY = "docs/how-to/write-a-history.md"

LEFT_OVER = "docs/findings/java-positions-of-an-abort.md"

HOW_TO_RUNS = "tests/end_to_end/test_how_to_pages.py"
EXECUTED = {
    ("docs/how-to/explore-a-client.md", "console"): "tests/end_to_end/test_explore.py",
    (TUTORIAL, "console"): "tests/end_to_end/test_verify.py",
    (TUTORIAL, "python"): "tests/end_to_end/test_verify.py",
    (SPARK, "console"): HOW_TO_RUNS,
    (SPARK, "python"): HOW_TO_RUNS,
    (SPARK, "text"): HOW_TO_RUNS,
    (FLINK, "java"): "tests/unit/power/test_power_flink.py",
    (DATABASE, "console"): HOW_TO_RUNS,
    (DATABASE, "python"): HOW_TO_RUNS,
    (DATABASE, "text"): HOW_TO_RUNS,
    (SEVERAL, "console"): HOW_TO_RUNS,
    (SEVERAL, "python"): HOW_TO_RUNS,
    (SEVERAL, "text"): HOW_TO_RUNS,
    (QUEUE, "console"): HOW_TO_RUNS,
    (QUEUE, "java"): HOW_TO_RUNS,
    (QUEUE, "text"): HOW_TO_RUNS,
    (HTTP, "console"): HOW_TO_RUNS,
    (HTTP, "python"): HOW_TO_RUNS,
    (HTTP, "text"): HOW_TO_RUNS,
    (AVRO, "console"): HOW_TO_RUNS,
    (AVRO, "python"): HOW_TO_RUNS,
    (AVRO, "text"): HOW_TO_RUNS,
    (HISTORY, "go"): "tests/unit/docs/test_docs_histories.py",
    (HISTORY, "java"): "tests/unit/docs/test_docs_histories.py",
    (HISTORY, "console"): "tests/unit/docs/test_docs_histories.py",
    (HISTORY, "text"): "tests/unit/docs/test_docs_histories.py",
    ("docs/how-to/run-in-a-container.md", "dockerfile"): "tests/docker/test_docker_image.py",
    (LEFT_OVER, "java"): "tests/end_to_end/test_findings.py",
    (LEFT_OVER, "console"): "tests/end_to_end/test_findings.py",
    (FOREIGN, "json"): "tests/unit/checkers/imports/test_imports_documentation.py",
    ("docs/how-to/add-a-fault.md", "python"): "tests/integration/test_fault_how_to.py",
    ("docs/how-to/add-an-anomaly.md", "python"): ("tests/unit/checkers/test_add_an_anomaly.py"),
    (SECTION, "html"): "tests/unit/reports/test_sections.py",
    (SECTION, "python"): "tests/unit/reports/test_sections.py",
    ("docs/how-to/add-an-output.md", "python"): "tests/unit/onceproof/test_scenarios_elsewhere.py",
    ("docs/how-to/ask-a-run.md", "sql"): "tests/unit/onceproof/shell/test_shell.py",
    ("docs/how-to/use-your-own-cluster.md", "python"): "tests/end_to_end/test_secured.py",
    ("docs/reference/lab.md", "js"): "tests/end_to_end/test_lab.py",
}
"""Page and language → the tests that execute every such block of the page."""

SHELLS: Final = frozenset({"console", "sh", "text"})
"""Languages of blocks with commands."""
TYPED_IN: Final = "tests/end_to_end/test_page_commands.py"
"""Runs the commands below as their pages show them, since they need no brokers."""
OFFLINE: Final = frozenset(
    {"list", "runtimes", "explain", "check", "shell", "report", "diff", "doctor", "clean", "config"}
)
ELSEWHERE: Final = {
    r"make( setup| test| run)?": ".ci/run",
    r"make (reference|matrix|power|known-bugs|versions|soak)\b.*": "CONTRIBUTING.md",
    r"make (test-faults|test-docker)\b.*": "CONTRIBUTING.md",
    r"make dist\b.*": "tests/packaging",
    r"(python3 -m venv trial|trial/bin/.*)": "tests/packaging",
    r"pip install dist/.*": "tests/integration/test_light_installation.py",
    r"onceproof run --backend docker": "tests/docker/test_docker_flagship.py",
    r"onceproof (run|lab) \S+ --backend external:.*": "tests/end_to_end/test_external.py",
    r"onceproof run --json-events - .*": "tests/unit/onceproof/test_json_events.py",
    r"onceproof run( spark-kafka-sink .*)?": "tests/end_to_end/test_flagship.py",
    r"onceproof run \S+\.py:\w+": "tests/end_to_end/test_controls.py",
    r"onceproof run \S+ .*--with .*": "tests/end_to_end/test_versions.py",
    r"onceproof run late-commit-java-2 --seed 7": "tests/end_to_end/test_versions.py",
    r"onceproof replay .*": "tests/end_to_end/test_controls.py",
    r"onceproof verify .*": "tests/end_to_end/test_verify.py",
    r"onceproof explore\b.*": "tests/end_to_end/test_explore.py",
    r"onceproof audit .*": "tests/integration/test_audit.py",
    r"onceproof lab --bare\b.*": "tests/end_to_end/test_lab_bare.py",
    r"onceproof (lab|run) --web\b.*": "tests/integration/test_lab_in_chromium.py",
    r"onceproof lab": "tests/end_to_end/test_lab.py",
    r"onceproof fault kill driver .*": "tests/end_to_end/test_lab.py",
    r"onceproof fault message .*": "tests/integration/test_fault_messages.py",
    r"onceproof (fault|status|heal|end)\b.*": "tests/end_to_end/test_lab.py",
    r"onceproof matrix\b.*": "tests/end_to_end/test_matrix.py",
    r"onceproof soak\b.*": "tests/unit/onceproof/soak",
    r"onceproof cost\b.*": "tests/integration/test_cost.py",
    r"onceproof check (hdfs|s3a)://.*": "a store that only its owner has",
    r"docker compose .*": "tests/docker/test_docker_stage.py",
    r"docker (build|run) .*": "tests/docker/test_docker_image.py",
    r"(for what in .*|curl -X POST .*|done)": "tests/docker/test_docker_stage.py",
    r"(S=.*|curl --unix-socket .*)": "tests/end_to_end/test_lab.py",
    r"(git (tag|push) .*|\.venv/bin/uv publish .*)": "a release, which is a person's to make",
}
"""Pattern of a whole line → where it is executed."""


def lines() -> Iterator[tuple[str, str]]:
    """Page and line, without its comment, of all lines that no test of `EXECUTED` runs."""
    for block in blocks():
        if block.language in SHELLS and (block.page, block.language) not in EXECUTED:
            for line in typed(block):
                if bare := re.sub(r"(^|\s)#.*$", "", line).strip():
                    yield block.page, bare


def is_typed(line: str) -> bool:
    """Whether `TYPED_IN` runs this line."""
    words = line.split()
    return (
        words[0] == "onceproof"
        and len(words) > 1
        and words[1] in OFFLINE
        and not any(re.fullmatch(pattern, line) for pattern in ELSEWHERE)
    )
