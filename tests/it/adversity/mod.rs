//! Everything at the worst moment: dangerous pairs of calls stepped statement by statement, random
//! calls against a model of the contract, and many sessions on a few instances.
//!
//! Every day a few fixed seeds are run. `DUROXIDE_SQL_TEST_SEEDS=2000` runs that many, and every
//! order of the pairs.

mod account;
mod batches;
mod bench;
mod caller;
mod dump;
mod failures;
mod fenced;
mod grain;
mod held;
mod kept;
mod levels;
mod load;
mod model;
mod operations;
mod orders;
mod pairs;
mod paths;
mod runner;
mod runner_work;
mod sequences;
mod settings;
mod statements;
mod stepper;
mod steps;
