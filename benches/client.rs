//! What a call costs on the client's side: taking a connection, encoding, sending, decoding.
//!
//! The server's answers are recorded once and then replayed, so no server works while time is taken.
//! The group `floor` moves the same bytes over the same socket without the provider; the difference is
//! the provider's and the driver's own cost. At the end follow the allocations of each call; the test `allocations`
//! holds them to limits.

mod support;

use std::alloc::System;

use criterion::Criterion;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use support::calls::{Call, Client, allocated, record};
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Histories that are fetched.
const SIZES: [u64; 3] = [10, 100, 1_000];

fn time(criterion: &mut Criterion, runtime: &Runtime, clients: &[(u64, Client)]) {
    for (size, client) in clients {
        for call in Call::ALL {
            if !call.reads_history() && *size != SIZES[0] {
                continue;
            }
            let name = label(call, *size);
            let mut floor = runtime.block_on(client.replay.floor(call.procedure()));
            criterion
                .benchmark_group("floor")
                .bench_function(&name, |bencher| {
                    bencher.iter(|| runtime.block_on(floor.exchange()));
                });
            criterion
                .benchmark_group("call")
                .bench_function(&name, |bencher| {
                    bencher.iter(|| {
                        let done = runtime.block_on(call.run(&client.provider));
                        done.expect("the recorded answer");
                    });
                });
        }
    }
}

fn allocations(runtime: &Runtime, clients: &[(u64, Client)]) {
    println!(
        "\n{:<36} {:>12} {:>14} {:>14}",
        "per call", "allocations", "bytes", "per event"
    );
    for (size, client) in clients {
        for call in Call::ALL {
            if !call.reads_history() && *size != SIZES[0] {
                continue;
            }
            let spent = runtime.block_on(allocated(ALLOCATOR, client, call));
            let per_event = match call.reads_history() {
                true => format!("{:.2}", spent.blocks as f64 / *size as f64),
                false => "-".to_owned(),
            };
            let name = label(call, *size);
            println!(
                "{name:<36} {:>12} {:>14} {per_event:>14}",
                spent.blocks, spent.bytes
            );
        }
    }
}

fn label(call: Call, size: u64) -> String {
    match call.reads_history() {
        true => format!("{}, {size} events", call.procedure()),
        false => call.procedure().to_owned(),
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let clients = SIZES.map(|size| (size, runtime.block_on(record(size))));
    let mut criterion = Criterion::default().configure_from_args();
    time(&mut criterion, &runtime, &clients);
    allocations(&runtime, &clients);
    criterion.final_summary();
}
