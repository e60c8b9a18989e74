//! Sixteen sessions on a few hot instances and sessions, and an account of every message.
//!
//! The procedures are called without the provider, which would repeat a deadlock's victim: among our
//! own procedures there must be none.

use std::sync::Arc;
use std::time::Duration;

use super::account::Account;
use super::caller::Caller;
use crate::support::checker;
use crate::support::database::TestSchema;
use crate::support::session::Session;
use crate::support::setting::{Setting, Witness};

const CALLERS: u64 = 16;
const CALLS: u64 = 40;

/// What the sessions do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    /// Everything.
    Mixed,
    /// Mostly deletions, and turns of what is deleted.
    Deletions,
}

/// Returns how many turns were refused because their instance had been deleted.
async fn load(setting: Setting, load: Load) -> u64 {
    let server = setting.start();
    let _witness = Witness::of(&server);
    let controls = server.controls();
    let schema = TestSchema::at(server.connection_string());
    schema.provider().await;
    let account = Arc::new(Account::default());
    let mut callers = Vec::new();
    for n in 0..CALLERS {
        let session = Session::open(&schema).await;
        let seed = setting.seed * CALLERS + n;
        let mut caller = Caller::new(session, seed, account.clone());
        let controls = controls.clone();
        callers.push(tokio::spawn(async move {
            for call in 0..CALLS {
                // Leases end in the middle of everything.
                if n == 0 && call % 10 == 9 {
                    controls.advance(Duration::from_secs(61));
                }
                match load {
                    Load::Mixed => caller.step().await,
                    Load::Deletions => caller.churn().await,
                }
            }
            caller
        }));
    }
    let mut last = None;
    for caller in callers {
        last = Some(
            caller
                .await
                .unwrap_or_else(|error| panic!("{setting:?}: {error}")),
        );
    }
    // Nobody holds a lease any more, and every delay is over.
    controls.advance(Duration::from_secs(3_600));
    let mut last = last.expect("a caller");
    last.finish().await;
    let broken = checker::broken(&mut last.session, &controls).await;
    assert!(broken.is_empty(), "{setting:?}: {broken:?}");
    let faults = account.faults();
    assert!(faults.is_empty(), "{setting:?}: {faults:?}");
    assert!(
        load == Load::Deletions || account.messages() > 50,
        "there was a load"
    );
    account.refused()
}

/// Nothing is lost, nothing is done twice, every rule holds, no lock is left and nobody was a
/// deadlock's victim.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mixed_load_loses_nothing_and_never_deadlocks() {
    // 0: statements without ROWLOCK locked pages, and turns of different instances met on them. 76: the search
    // of delete_instance_bulk went from the index to the row; with an adversary that did not heed ROWLOCK on
    // a table that is joined, renewals of sessions met.
    for setting in Setting::each(0..4, &[76]).map(Setting::with_adversary) {
        load(setting, Load::Mixed).await;
        println!("{setting:?}: nothing found");
    }
}

/// A turn that was fetched before its instance was deleted is neither committed nor renewed
/// afterwards, whatever was created under the same id meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_of_deleted_instances_are_refused_under_load() {
    let mut refused = 0;
    for setting in Setting::each(0..4, &[]).map(Setting::with_adversary) {
        refused += load(setting, Load::Deletions).await;
    }
    println!("{refused} turns were refused after a deletion");
    assert!(refused > 0, "no turn was under way when its instance went");
}
