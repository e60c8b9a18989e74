//! The integration tests: one binary, one module per subject.

mod adversity;
#[cfg(feature = "azure-identity")]
mod azure;
mod clocks;
mod commands;
mod conformance;
mod connecting;
mod costs;
mod damage;
mod durability;
mod e2e;
mod faults;
mod golden;
mod histories;
mod interleavings;
mod lanes;
mod logs;
mod migrations;
mod mutation;
mod payloads;
mod permissions;
mod procedures;
mod roundtrips;
mod scripts;
mod secrets;
mod shutdown;
mod silence;
mod startup;
mod startup_errors;
mod statements;
mod support;
mod tokens;
mod transactions;
mod views;
mod waiting;
