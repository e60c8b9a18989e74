//! Prints the whole installation of a schema as one T-SQL script, for a DBA to run.
//!
//! ```text
//! cargo run --example install_script -- --schema orders > install.sql
//! ```

use anyhow::{Context, bail};
use duroxide_sql::{DEFAULT_SCHEMA, SchemaName, install_script};

fn main() -> anyhow::Result<()> {
    let mut schema = DEFAULT_SCHEMA.to_owned();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--schema" => schema = arguments.next().context("--schema needs a name")?,
            other => bail!("unknown argument {other}; usage: install_script [--schema NAME]"),
        }
    }
    print!("{}", install_script(&SchemaName::new(schema)?));
    Ok(())
}
