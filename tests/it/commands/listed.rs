//! The list: every command of the documents, and where it is run or why it never is.

/// Where a command is run.
pub(super) enum Run {
    /// This file of the CI has this text in it.
    By(&'static str, &'static str),
    /// Nothing can run it here, because.
    Never(&'static str),
}
use Run::{By, Never};

const SERVER: Run =
    Never("needs a server of the reader's; .ci/foreign-clients.d/dba does the same");
const DOCKER: Run = Never("needs Docker; .ci/config-check lints compose.yaml");
const EDIT: Run = Never("is what a person does");
const RELEASE: Run = Never("builds the tool once more; .ci/run builds it for its tests");
const TOOL: Run = Never("needs a server of the reader's; cli/tests run every command");
const LOAD: Run = Never("is a load test; sql-stress/tests run every scenario briefly");

/// Every command of the documents, as far as it identifies the command, and where it is run.
pub(super) const COMMANDS: &[(&str, Run)] = &[
    (
        "cargo run --example quick_start",
        By(".ci/first-steps", "shows quick_start"),
    ),
    (
        "cargo run --example quick_start -- --verify --schema orders",
        By(
            ".ci/foreign-clients.d/dba",
            "\"$quick_start\" --verify --schema",
        ),
    ),
    (
        "cargo run --example order_workflow",
        By(".ci/first-steps", "shows order_workflow"),
    ),
    (
        "cargo run --example two_processes",
        By(".ci/first-steps", "shows two_processes"),
    ),
    (
        "cargo run --features azure-identity --example azure_entra",
        By(".ci/features", "--example azure_entra"),
    ),
    (
        "cargo run -p duroxide-sql-cli -- script --schema orders",
        By(
            ".ci/foreign-clients.d/dba",
            "\"$tool\" script --schema \"$schema\" >",
        ),
    ),
    (
        "cargo run -p duroxide-sql-cli -- script --schema orders --uninstall",
        By(
            ".ci/foreign-clients.d/dba",
            "\"$tool\" script --schema \"$schema\" --uninstall >",
        ),
    ),
    (
        "cargo run -p duroxide-sql-cli --example page_trial -- --instances 10000",
        By(".ci/browser.d/page.py", "/examples/page_trial"),
    ),
    ("cargo install --path cli", RELEASE),
    ("duroxide-sql", TOOL),
    (
        "cargo run -p mssql-embedded -- --port 1433 --password 'Tr1al-only'",
        By(".ci/foreign-clients", "debug/mssql-embedded\" --port 0"),
    ),
    (
        "cargo run --release -p mssql-embedded --example bench",
        LOAD,
    ),
    ("cargo run --release -p sql-stress", LOAD),
    (
        "cargo run --release -p sql-stress --example compare-baseline",
        LOAD,
    ),
    ("cargo run --release -p sql-stress --example growth", LOAD),
    (
        "cargo run --release -p sql-stress --example growth -- fan-in --sizes 100,1000 --commit-latency 3ms",
        LOAD,
    ),
    ("sql-stress", LOAD),
    ("cargo bench -p client-bench", LOAD),
    (
        "cargo test --workspace",
        By(".ci/run", "step tests cargo test --workspace"),
    ),
    (
        "cargo test --test it",
        By(".github/workflows/ci.yml", "run: cargo test --test it"),
    ),
    (
        "cargo test --test it adversity",
        By(".ci/run", "cargo test --workspace"),
    ),
    (
        "cargo test --test it conformance",
        By(".ci/run", "cargo test --workspace"),
    ),
    (
        "cargo test --test it mutation -- --nocapture",
        By(".ci/run", "cargo test --workspace"),
    ),
    (
        "cargo test --test it silence",
        By(".ci/run", "cargo test --workspace"),
    ),
    (
        "cargo test --test it shutdown",
        By(".ci/run", "cargo test --workspace"),
    ),
    (
        "cargo test --test it statements",
        By(".ci/run", "cargo test --workspace"),
    ),
    (
        "cargo test --test it migrations",
        By(".ci/run", "cargo test --workspace"),
    ),
    (
        "cargo test --test azure_live",
        By(".ci/run", "cargo test --workspace"),
    ),
    (
        "cargo test -p mssql-embedded --test cases",
        By(
            ".github/workflows/ci.yml",
            "run: cargo test -p mssql-embedded --test cases",
        ),
    ),
    (
        "cargo package -p duroxide-sql",
        By(".ci/run", "cargo package --quiet -p duroxide-sql"),
    ),
    (".ci/tsql-check", By(".ci/run", "step t-sql .ci/tsql-check")),
    (
        ".ci/tsql-check --self-test",
        By(".ci/run", "step t-sql-self-test .ci/tsql-check --self-test"),
    ),
    (
        ".ci/tsql-check migrations/procedures/read.sql",
        By(".ci/run", "step t-sql .ci/tsql-check"),
    ),
    (".ci/msrv", By(".ci/run", "step msrv .ci/msrv")),
    (
        ".ci/config-check",
        By(".ci/run", "step configuration .ci/config-check"),
    ),
    (
        ".ci/foreign-clients",
        By(".ci/run", "step foreign-clients .ci/foreign-clients"),
    ),
    (".ci/browser", By(".ci/run", "step browser .ci/browser")),
    (".ci/features", By(".ci/run", "step features .ci/features")),
    (
        ".ci/release-scripts target",
        By(".ci/first-steps", ".ci/release-scripts \"$work/release\""),
    ),
    (
        ".ci/first-steps",
        By(".ci/run", "step first-steps .ci/first-steps"),
    ),
    (".ci/run", By(".github/workflows/ci.yml", "run: .ci/run")),
    ("docker compose up -d --wait", DOCKER),
    ("sqlcmd", SERVER),
    ("$EDITOR", EDIT),
    ("git", EDIT),
];
