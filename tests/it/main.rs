//! The integration tests: one binary, one module per subject.

mod conformance;
mod e2e;
mod migrations;
mod payloads;
mod startup_errors;
mod support;
