//! The integration tests: one binary, one module per subject.

mod conformance;
mod e2e;
mod faults;
mod interleavings;
mod lanes;
mod migrations;
mod payloads;
mod permissions;
mod procedures;
mod roundtrips;
mod startup_errors;
mod support;
