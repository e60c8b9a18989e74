//! Leases under a pool that is used up: renewals come to their turn, and to their connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use duroxide::providers::{Provider, TagFilter};
use duroxide_sql::MssqlProvider;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use mssql_embedded::Server;

use crate::support::database::{SnapshotReads, TestSchema, in_both_settings, own_server_with};
use crate::support::items::{activity, fetch_work};
use crate::support::proxy::{Fault, Proxy};
use crate::support::wait;

/// Long enough for a queue of acks to be longer than the attempts of a renewal, and no sign of a slow server: a commit that comes
/// during another takes twice this.
const LATENCY: Duration = Duration::from_millis(500);

in_both_settings! {
    renewals_pass_a_queue_of_acks,
    renewals_keep_their_turn_in_a_small_pool,
    renewals_use_the_connections_that_their_earlier_attempts_began_to_open,
}

/// A server of its own with slow commits, and a provider with many leases.
struct Crowd {
    _schema: TestSchema,
    server: Server,
    provider: Arc<MssqlProvider>,
    /// Leases of activities that are to be acknowledged.
    done: Vec<String>,
    /// Leases of activities that go on.
    running: Vec<String>,
}

impl Crowd {
    async fn new(
        reads: SnapshotReads,
        pool_max: u32,
        done: u64,
        running: u64,
        lease: Duration,
    ) -> Self {
        let server = own_server_with(reads);
        let schema = TestSchema::at(server.connection_string());
        let builder = schema.builder().pool_max(pool_max).wait_for_work(false);
        let provider = builder.build().await.expect("the provider starts");
        for id in 0..done + running {
            let item = activity("order", id, "");
            provider.enqueue_for_worker(item).await.unwrap();
        }
        let mut crowd = Self {
            _schema: schema,
            server,
            provider: Arc::new(provider),
            done: Vec::new(),
            running: Vec::new(),
        };
        for _ in 0..done {
            let (_, token, _) = fetch_work(&*crowd.provider).await.expect("an activity");
            crowd.done.push(token);
        }
        for _ in 0..running {
            let filter = TagFilter::default();
            let fetched = crowd
                .provider
                .fetch_work_item(lease, Duration::ZERO, None, &filter);
            let (_, token, _) = fetched.await.unwrap().expect("an activity");
            crowd.running.push(token);
        }
        crowd
    }

    /// Acknowledges everything that is done, so many at a time, while `work` goes on.
    async fn ack_during(&self, at_a_time: usize, work: impl Future<Output = ()>) {
        let controls = self.server.controls();
        controls.set_commit_latency(LATENCY);
        let provider = self.provider.clone();
        let acks = self.done.clone().into_iter().map(move |token| {
            let provider = provider.clone();
            async move { provider.ack_work_item(&token, None).await }
        });
        let acks = futures_util::stream::iter(acks).buffer_unordered(at_a_time);
        let acks = tokio::spawn(acks.collect::<Vec<_>>());
        let queued = || async { self.provider.pool_status().waiting as usize + 5 > at_a_time };
        wait::until("acks wait for connections", queued).await;
        work.await;
        assert!(!acks.is_finished(), "the acks were too few");
        controls.set_commit_latency(Duration::ZERO);
        for acked in acks.await.unwrap() {
            acked.expect("the lease of an ack is far from over");
        }
    }

    async fn renew_all(&self, lease: Duration) {
        let renewals = self
            .running
            .iter()
            .map(|token| self.provider.renew_work_item_lock(token, lease));
        let begun = Instant::now();
        let renewals = join_all(renewals).await;
        println!("the renewals took {:?}", begun.elapsed());
        for renewed in renewals {
            renewed.expect("the lease is renewed");
        }
    }
}

/// Many activities end at once while commits are slow, and their acks queue for longer than what is left of other leases. Those are
/// renewed all the same: an activity whose renewal fails is run again.
async fn renewals_pass_a_queue_of_acks(reads: SnapshotReads) {
    let lease = Duration::from_secs(5);
    let crowd = Crowd::new(reads, 4, 120, 2, lease).await;
    crowd.ack_during(120, crowd.renew_all(lease)).await;
}

/// In a pool too small for places that only renewals have, a renewal waits as long as the acks before it, and no longer: its attempts do not
/// each begin at the end of the queue, which here takes longer than any of them.
async fn renewals_keep_their_turn_in_a_small_pool(reads: SnapshotReads) {
    let lease = Duration::from_secs(9);
    let crowd = Crowd::new(reads, 3, 80, 1, lease).await;
    crowd.ack_during(15, crowd.renew_all(lease)).await;
}

/// Logins take long after a failover, longer than any attempt of a renewal may; and common callers have all the places that everybody
/// may use, and are stuck. The connection that the first attempt began to open is not thrown away: the next one waits for it.
async fn renewals_use_the_connections_that_their_earlier_attempts_began_to_open(
    reads: SnapshotReads,
) {
    const CALLERS: usize = 20;
    const POOL_MAX: u32 = 4;
    let lease = Duration::from_secs(8);
    // Attempts have a quarter, three eighths, and three eighths of the lease.
    let login = Duration::from_millis(3300);
    let schema = TestSchema::on(reads);
    let proxy = Proxy::start(schema.url()).await;
    let builder = MssqlProvider::builder(proxy.url(schema.url())).schema(schema.name().as_str());
    let builder = builder.pool_max(POOL_MAX).wait_for_work(false);
    let provider = Arc::new(builder.build().await.expect("the provider starts"));
    let item = activity("order", 0, "");
    provider.enqueue_for_worker(item).await.unwrap();
    let filter = TagFilter::default();
    let fetched = provider.fetch_work_item(lease, Duration::ZERO, None, &filter);
    let (_, token, _) = fetched.await.unwrap().expect("the activity is ready");
    proxy.slow_logins(login);
    let stuck: Vec<_> = (0..CALLERS)
        .map(|_| {
            proxy.spoil("enqueue_for_worker", Fault::SilentBefore);
            let provider = provider.clone();
            let item = activity("order", 1, "");
            tokio::spawn(async move { provider.enqueue_for_worker(item).await })
        })
        .collect();
    let is_used_up = || async {
        let pool = provider.pool_status();
        pool.idle == 0 && pool.waiting as usize > CALLERS - POOL_MAX as usize
    };
    wait::until("the common places are used up", is_used_up).await;
    let is_over = AtomicBool::new(false);
    let begun = Instant::now();
    let renewal = async {
        let renewed = provider.renew_work_item_lock(&token, lease).await;
        is_over.store(true, Ordering::Relaxed);
        renewed
    };
    let watch = async {
        let mut most = 0;
        while !is_over.load(Ordering::Relaxed) {
            most = most.max(provider.pool_status().open);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        most
    };
    let (renewed, most) = tokio::join!(renewal, watch);
    println!("the renewal took {:?}", begun.elapsed());
    renewed.expect("the lease is renewed");
    assert!(most <= POOL_MAX, "{most} connections");
    stuck.iter().for_each(tokio::task::JoinHandle::abort);
}
