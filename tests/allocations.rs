//! What a call allocates on the client's side does not grow unnoticed: the calls of the benchmark, counted.
//!
//! A binary of its own, because what is counted is the whole process's. `docs/performance.md` says where the allocations
//! arise. A call that needs fewer lowers its limit; one that needs more should be worth it.

#[path = "../benches/support/mod.rs"]
#[allow(dead_code, reason = "the benchmark needs more of it")]
mod support;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use support::calls::{Call, Client, allocated, record};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Two lengths of histories, to tell what an event costs from what a call costs.
const SIZES: [u64; 2] = [10, 110];

/// Allocations of a call with everything that it is given, without what each event adds.
fn limit(call: Call) -> usize {
    match call {
        Call::CustomStatus => 22,
        Call::Enqueue => 21,
        Call::AckWork => 20,
        Call::AckTurn => 61,
        // 139; up to three more if the recorded search was long, because the next ones
        // then say how far down they look.
        Call::FetchTurn => 142,
        Call::Read => 25,
    }
}

/// Of an event that is read: for the driver's row and its text, and for the event itself.
const EVENT_LIMIT: usize = 9;

async fn blocks(client: &Client, call: Call) -> usize {
    allocated(ALLOCATOR, client, call).await.blocks
}

#[tokio::test]
async fn calls_allocate_no_more_than_is_known() {
    let short = record(SIZES[0]).await;
    let long = record(SIZES[1]).await;
    let mut found = Vec::new();
    for call in Call::ALL {
        let name = call.procedure();
        let mut each = blocks(&short, call).await;
        if call.reads_history() {
            let more = blocks(&long, call).await - each;
            let events = (SIZES[1] - SIZES[0]) as usize;
            // To the nearest: a fetch that looks below the floor, as one does each second, sends and allocates a little
            // less.
            let per_event = (more + events / 2) / events;
            found.push((name, "an event", per_event, EVENT_LIMIT));
            each -= per_event * SIZES[0] as usize;
        }
        found.push((name, "a call", each, limit(call)));
    }
    let kept = found.iter().all(|(.., spent, limit)| spent <= limit);
    assert!(kept, "(what, of what, allocations, limit): {found:#?}");
}
