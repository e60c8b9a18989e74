//! The database's collation does not matter: a part of duroxide's suite, one function or more of
//! each kind, on servers that compare names and texts in other ways.

use duroxide::provider_validation as validation;
use mssql_embedded::{Collation, Server};

use super::factory::Factory;

/// Case-sensitive, binary, and binary UTF-8; the other tests run on a case-insensitive server.
const COLLATIONS: [&str; 3] = [
    "SQL_Latin1_General_CP1_CS_AS",
    "Latin1_General_100_BIN2",
    "Latin1_General_100_BIN2_UTF8",
];

/// Calls each function with a factory whose server has the collation.
macro_rules! run {
    ($factory:expr, $($module:ident :: $name:ident),* $(,)?) => {
        $(validation::$module::$name($factory).await;)*
    };
}

#[tokio::test]
async fn suite_passes_under_other_collations() {
    for name in COLLATIONS {
        let collation = Collation::by_name(name).expect("a collation of the engine");
        let server = Server::builder().collation(collation).start();
        let server = server.expect("the embedded server starts");
        let factory = &Factory::at(server.connection_string());
        run!(
            factory,
            atomicity::test_multi_operation_atomic_ack,
            bulk_deletion::test_delete_instance_bulk_filter_combinations,
            bulk_deletion::test_delete_instance_bulk_cascades_to_children,
            cancellation::test_same_activity_in_worker_items_and_cancelled_is_noop,
            capability_filtering::test_fetch_filter_skips_incompatible_selects_compatible,
            custom_status::test_custom_status_set,
            deletion::test_delete_cleans_queues_and_locks,
            error_handling::test_duplicate_event_id_rejection,
            instance_creation::test_instance_creation_via_metadata,
            instance_locking::test_concurrent_instance_fetching,
            kv_store::test_kv_set_and_get,
            management::test_list_instances_by_status,
            multi_execution::test_continue_as_new_creates_new_execution,
            poison_message::orchestration_attempt_count_starts_at_one,
            prune::test_prune_options_combinations,
            queue_semantics::test_worker_queue_fifo_ordering,
            sessions::test_session_affinity_same_worker,
            tag_filtering::test_default_and_fetches_untagged_and_matching,
        );
    }
}
