//! The engine as clients see it: real connections, real locks, and the tester's controls.

mod adversary;
mod controls;
mod endless;
mod locks;
mod memory;
mod nesting;
mod program;
mod readme;
mod support;
mod wire;
