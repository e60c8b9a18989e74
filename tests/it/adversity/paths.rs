//! Every statement on a stored table says by which index it comes, and that it seeks.
//!
//! With INDEX alone the server may still read the whole index, and with FORCESEEK alone any index that can be sought ("Table
//! hints"). In which order rows are locked, and how many, would then depend on statistics.

use std::time::Duration;

use mssql_embedded::{Controls, OpenPath};

use super::bench::Bench;
use super::failures::cases;
use super::grain::others;
use crate::support::mutants;
use crate::support::setting::Setting;

/// Those of procedures; tests ask questions of their own.
pub(super) fn of_procedures(mut paths: Vec<OpenPath>) -> Vec<String> {
    paths.retain(|path| !path.procedure.is_empty());
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
        let open = of_procedures(bench.controls.open_paths());
        assert!(open.is_empty(), "{setting:?}: {open:#?}");
        let crossing = crossing_writers(&bench.controls);
        assert!(crossing.is_empty(), "{setting:?}: {crossing:#?}");
    }
}

/// What goes from an index on to the row, and can meet a writer who has the row and wants the entry. Searches never do: their
/// indexes have all that they ask for. Changes do it by the unique index of the table's key alone, where whoever changes the
/// row comes by the same entry first.
fn crossing_writers(controls: &Controls) -> Vec<String> {
    let mut detours = controls.detours();
    detours.retain(|detour| !detour.procedure.is_empty());
    assert!(!detours.is_empty(), "lanes are reached by their keys");
    detours.retain(|detour| detour.is_shared || !detour.index.starts_with("uq_"));
    detours.iter().map(ToString::to_string).collect()
}
