//! The integration tests: one binary, one module per subject.

mod adversity;
mod clocks;
mod commands;
mod conformance;
mod costs;
mod damage;
mod durability;
mod e2e;
mod faults;
mod golden;
mod histories;
mod interleavings;
mod lanes;
mod migrations;
mod payloads;
mod permissions;
mod procedures;
mod roundtrips;
mod scripts;
mod shutdown;
mod silence;
mod startup_errors;
mod statements;
mod support;
mod transactions;
mod views;
