"""Fails unless the workflow runs the whole suite on every supported server, with snapshot reads on and off."""

import itertools
import sys

import yaml

SERVERS = ["2019", "2022", "2025"]
SUITES = ["cargo test --test it", "cargo test -p mssql-embedded --test cases"]

with open(sys.argv[1], encoding="utf-8") as file:
    jobs = yaml.safe_load(file)["jobs"]
server = jobs["sqlserver"]
matrix = server["strategy"]["matrix"]
wrong = []
if set(matrix) != {"version", "snapshot"} or set(
    itertools.product(matrix["version"], matrix["snapshot"])
) != set(itertools.product(SERVERS, ["ON", "OFF"])):
    wrong.append(f"the matrix is not {SERVERS} times snapshot reads on and off: {matrix}")
if "${{ matrix.version }}" not in server["services"]["sqlserver"]["image"]:
    wrong.append("the image does not depend on matrix.version")
commands = [step["run"] for step in server["steps"] if "run" in step]
if not any("READ_COMMITTED_SNAPSHOT ${{ matrix.snapshot }}" in command for command in commands):
    wrong.append("READ_COMMITTED_SNAPSHOT is not set from matrix.snapshot")
for suite in SUITES:
    if suite not in commands:
        wrong.append(f"no step runs {suite}")
for variable in ("DATABASE_URL", "MSSQL_CASES_URL"):
    if "localhost,1433" not in server["env"].get(variable, ""):
        wrong.append(f"{variable} does not lead to the container")
if any(key in part for part in (server, *server["steps"]) for key in ("if", "continue-on-error")):
    wrong.append("a step can be skipped or fail without notice")
if not any(step.get("run") == ".ci/run" for step in jobs["embedded"]["steps"]):
    wrong.append("no job runs .ci/run")
sys.exit("\n".join(wrong) or None)
