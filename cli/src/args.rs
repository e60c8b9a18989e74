//! The command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use duroxide_sql::Pace;

use crate::age::{parse as age, parse_pause as pause};

const EXIT_CODES: &str = "\
The server is named by --url or by DATABASE_URL, the schema by --schema or by DUROXIDE_SQL_SCHEMA.
Looking needs the role <schema>_observer, changing things <schema>_runtime, install and uninstall a DBA.

Exit codes: 0 all is well; 1 the command failed; 2 the command line is wrong;
3 the command worked and found something (stuck: what waits; doctor: a problem; verify: not usable).";

/// More rows than anybody reads, and pages; both together are still a number of the server's.
const ROWS_MAX: u64 = 1_000_000_000;

/// Installs, watches and repairs schemas of duroxide-sql.
#[derive(Debug, Parser)]
#[command(name = "duroxide-sql", version, after_help = EXIT_CODES)]
pub struct Cli {
    /// Connection string: server=tcp:host,1433;database=…;user id=…;password=… or sqlserver://…
    #[arg(long, global = true, value_name = "STRING")]
    pub url: Option<String>,
    /// The schema to look after [default: duroxide]
    #[arg(long, global = true, value_name = "NAME")]
    pub schema: Option<String>,
    /// Write JSON instead of text for people
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check connection, rights, settings, clocks and schema, and say what to do about each
    Doctor,
    /// Install or upgrade the schema
    Install,
    /// Print the script that a DBA runs instead of `install`; needs no server
    Script {
        /// The script that removes everything instead
        #[arg(long)]
        uninstall: bool,
    },
    /// Check that the schema is the one this release needs
    Verify,
    /// Remove everything that the installation created, with all its data
    Uninstall {
        /// Do it; without this nothing happens
        #[arg(long)]
        yes: bool,
    },
    /// Instances by state, queues, leases and workers
    Status {
        /// Ask again and again
        #[arg(long)]
        watch: bool,
        /// Time between two questions
        #[arg(long, value_name = "AGE", default_value = "2s", value_parser = pause, requires = "watch")]
        every: Duration,
    },
    /// List instances, newest first
    List(ListArgs),
    /// Show one instance: what it did, what it waits for, its children
    Show {
        /// The instance
        instance_id: String,
        /// Every recorded event
        #[arg(long)]
        history: bool,
    },
    /// What waits, for how long, and why
    Stuck {
        /// Only what has waited this long
        #[arg(long, value_name = "AGE", default_value = "5m", value_parser = age)]
        longer_than: Duration,
        /// Also what waits for good reasons: running work, timers, children
        #[arg(long)]
        all: bool,
    },
    /// Ask a running instance to stop
    Cancel {
        /// The instance
        instance_id: String,
        /// Why; the instance's error says so
        #[arg(long, default_value = "cancelled by an operator")]
        reason: String,
    },
    /// Raise an external event for a running instance
    Raise {
        /// The instance
        instance_id: String,
        /// The event's name
        name: String,
        /// What the event carries; typed orchestrations expect JSON
        #[arg(default_value = "")]
        data: String,
    },
    /// Messages for instances that never existed: show them, or delete the old ones
    Orphans {
        /// Delete those of this age
        #[arg(long, value_name = "AGE", value_parser = age)]
        purge_older_than: Option<Duration>,
    },
    /// Delete a finished instance with its children
    Delete {
        /// The instance
        instance_id: String,
        /// Also when it is still running
        #[arg(long)]
        force: bool,
    },
    /// Delete old executions of an instance that continues as new
    Prune {
        /// The instance
        instance_id: String,
        /// Keep this many executions
        #[arg(long, value_name = "N")]
        keep_last: u32,
    },
    /// Delete instances that finished long ago, in the order of their creation; may be interrupted and repeated
    Purge(PurgeArgs),
    /// Show all of this as a page in a browser, to this machine only unless a token is set
    Serve(ServeArgs),
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Which instances.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// How its current execution is
    #[arg(long, value_parser = ["Running", "Completed", "Failed", "ContinuedAsNew"])]
    pub status: Option<String>,
    /// What it does right now: Executing, Ready, Waiting, LeaseExpired, …
    #[arg(long)]
    pub state: Option<String>,
    /// The orchestration's name
    #[arg(long, value_name = "NAME")]
    pub orchestration: Option<String>,
    /// Ids that begin so
    #[arg(long, value_name = "TEXT")]
    pub prefix: Option<String>,
    /// Only those without a parent
    #[arg(long)]
    pub roots: bool,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    pub limit: u64,
    /// Which page of that many, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=ROWS_MAX))]
    pub page: u64,
}

/// What to purge, and how fast.
#[derive(Debug, Args)]
pub struct PurgeArgs {
    /// Finished this long ago: 30d, 12h, 90m
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Duration,
    /// Trees of instances per call
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// How much of the time it works, in percent; the rest is left to the workers. 100 is full speed
    #[arg(long, value_name = "PERCENT", default_value_t = Pace::DEFAULT_PERCENT, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub share: u32,
    /// Besides, at most this many trees of instances per second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_second: Option<u32>,
    /// Only say how many there are
    #[arg(long)]
    pub dry_run: bool,
}

/// Where the page listens, and what it may do.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address and port; port 0 takes a free one. Others than loopback need a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8732")]
    pub listen: SocketAddr,
    /// Let the page cancel instances and raise events
    #[arg(long)]
    pub allow_changes: bool,
    /// File with the token that the page asks for [env: DUROXIDE_SQL_PAGE_TOKEN holds the token itself]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Name under which browsers may ask for the page, besides addresses and localhost; repeatable
    #[arg(long, value_name = "NAME")]
    pub host_name: Vec<String>,
}

/// What to say of a command line that cannot be read, where the parser's own words could show a password: they quote what
/// they do not understand, and that may be a connection string without its `--url`.
pub fn refusal(
    error: &clap::Error,
    arguments: impl IntoIterator<Item = OsString>,
) -> Option<String> {
    let mut arguments = arguments.into_iter();
    let may_hold_password = |argument: OsString| {
        let argument = argument.to_string_lossy();
        argument.contains('=') || argument.contains("://")
    };
    (error.use_stderr() && arguments.any(may_hold_password)).then(|| {
        format!(
            "error: {}; no argument is shown, because one may hold a password; a connection string \
             belongs behind --url or in DATABASE_URL; for more, try --help",
            error.kind()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever forgets `--url` shows the password to nobody who reads the terminal or a job's log.
    #[test]
    fn refusals_do_not_show_what_may_be_a_password() {
        let string = "server=h;user id=sa;password=hunter2";
        for line in [
            vec![string, "status"],
            vec!["status", string],
            vec!["--ulr", string, "status"],
            vec!["--ulr=sqlserver://sa:hunter2@h", "status"],
            vec!["status", "--every", string],
            vec!["sqlserver://sa:hunter2@h/db"],
        ] {
            let arguments = ["duroxide-sql"].iter().chain(&line);
            let error = Cli::try_parse_from(arguments).unwrap_err();
            let refusal = refusal(&error, line.iter().map(OsString::from)).expect("in our words");
            assert!(!refusal.contains("hunter2"), "{refusal}");
            assert!(refusal.contains("--url"), "{refusal}");
        }
        for line in [["status", "--no-such"], ["--url=server=h", "--help"]] {
            let arguments = ["duroxide-sql"].iter().chain(&line);
            let error = Cli::try_parse_from(arguments).unwrap_err();
            assert_eq!(refusal(&error, line.iter().map(OsString::from)), None);
        }
    }

    #[test]
    fn options_are_consistent() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }
}
