//! Every statement on a stored table says by which index it comes, and that it seeks.
//!
//! With INDEX alone the server may still read the whole index, and with FORCESEEK alone any index that can be sought ("Table
//! hints"). In which order rows are locked, and how many, would then depend on statistics.

use std::time::Duration;

use mssql_embedded::OpenPath;

use super::bench::Bench;
use super::failures::cases;
use super::grain::others;
use crate::support::mutants;
use crate::support::setting::Setting;

/// Searches of the queues that name their index and not FORCESEEK: procedure, table, and in how many statements. All of
/// them give a value for the index's first key and want the first row: a seek is what costs least on any server, and whole
/// index or not, READPAST waits for nobody. What is lost with a scan is time.
const SEEK_OR_SCAN: [(&str, &str, usize); 9] = [
    ("_find_session_item", "session_lanes", 3),
    ("_find_session_item", "sessions", 2),
    ("_find_session_item", "worker_queue", 2),
    ("fetch_orchestration_item", "instance_locks", 2),
    ("fetch_work_item", "worker_queue", 2),
    ("wait_for_work", "instance_locks", 1),
    ("wait_for_work", "session_lanes", 1),
    ("wait_for_work", "sessions", 1),
    ("wait_for_work", "worker_queue", 2),
];

/// Takes those away that are free to be open.
pub(super) fn without_free(mut paths: Vec<OpenPath>) -> Vec<String> {
    paths.retain(|path| !path.procedure.is_empty());
    for (procedure, table, statements) in SEEK_OR_SCAN {
        let is_free = |path: &OpenPath| {
            path.is_index_named && path.procedure == procedure && path.table == table
        };
        if paths.iter().filter(|path| is_free(path)).count() <= statements {
            paths.retain(|path| !is_free(path));
        }
    }
    paths.iter().map(ToString::to_string).collect()
}

/// Which table of a join comes first is the adversary's choice, and what was not the second could not be sought: hence
/// several seeds.
#[tokio::test]
async fn no_call_leaves_it_to_the_server_how_a_row_is_reached() {
    for setting in Setting::each(0..3, &[]).map(Setting::with_adversary) {
        let mut bench = Bench::new(setting).await;
        for case in cases().into_iter().chain(others()) {
            if !mutants::concerns(&[&case.call]) {
                continue;
            }
            bench.prepare(&case.setup).await;
            if case.is_late {
                bench.controls.advance(Duration::from_secs(61));
            }
            let call = bench.named(&case.call).await;
            let done = bench.side.run(&format!("EXEC [$(schema)].{call};")).await;
            let is_done = done
                .as_ref()
                .map_or_else(|number| (51_001..51_050).contains(number), |_| true);
            assert!(is_done, "{setting:?}: {:?} from {call}", done.err());
        }
        let open = without_free(bench.controls.open_paths());
        assert!(open.is_empty(), "{setting:?}: {open:#?}");
    }
}
