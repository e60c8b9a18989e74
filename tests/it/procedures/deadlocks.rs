//! Everything at once on a few instances: calls wait for each other, but never in a circle.
//!
//! The procedures are called without the provider, which would repeat a deadlock's victim.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Session;
use crate::support::checker::RULES;
use crate::support::database::{SnapshotReads, TestSchema};
use crate::support::dice::Dice;

const CALLERS: u64 = 6;
const CALLS: u64 = 150;

/// Refusals that any caller must expect: somebody else was faster.
const LOST: [u32; 4] = [51003, 51004, 51006, 51010];

struct Caller {
    session: Session,
    dice: Dice,
    turns: Vec<String>,
    work: Vec<String>,
    next_event: Arc<AtomicU64>,
}

impl Caller {
    async fn call(&mut self, text: &str) -> Option<Vec<Vec<tiberius::Row>>> {
        match self.session.run(&format!("EXEC [$(schema)].{text};")).await {
            Ok(sets) => Some(sets),
            Err(number) if LOST.contains(&number) => None,
            Err(number) => panic!("error {number} from {text}"),
        }
    }

    /// The token of what was fetched, if anything was.
    async fn fetch(&mut self, procedure: &str, arguments: &str) -> Option<String> {
        let token = uuid::Uuid::new_v4();
        let text =
            format!("{procedure} @lock_token = N'{token}', @lock_timeout_ms = 60000{arguments}");
        let sets = self.call(&text).await?;
        let token: Option<&str> = sets.first()?.first()?.get("lock_token");
        token.map(str::to_owned)
    }

    fn instance(&mut self) -> String {
        format!("i{}", self.dice.roll(4))
    }

    async fn step(&mut self) {
        let (instance, other) = (self.instance(), self.instance());
        match self.dice.roll(10) {
            0 | 1 => {
                let text = format!(
                    "enqueue_for_orchestrator @instance_id = N'{instance}', @kind = N'StartOrchestration', @payload = N'x'"
                );
                self.call(&text).await;
            }
            2 | 3 => {
                if let Some(token) = self.fetch("fetch_orchestration_item", "").await {
                    self.turns.push(token);
                }
            }
            4 | 5 => self.ack(&instance, &other).await,
            6 => {
                let session = format!(
                    ", @any_tag = 1, @session_owner = N'w{}', @session_timeout_ms = {}",
                    self.dice.roll(2),
                    self.dice.roll(2) * 50
                );
                if let Some(token) = self.fetch("fetch_work_item", &session).await {
                    self.work.push(token);
                }
            }
            7 => self.end_work(&instance).await,
            8 => {
                self.call("renew_session_lock @owner_ids = N'[\"w0\",\"w1\"]', @extend_ms = 50, @idle_timeout_ms = 1000").await;
                self.call("cleanup_orphaned_sessions").await;
            }
            _ => {
                let text = format!(
                    "delete_instances_atomic @instance_ids = N'[\"{instance}\",\"{other}\"]', @force = 1"
                );
                self.call(&text).await;
                self.call("get_system_metrics").await;
            }
        }
    }

    /// A turn that writes to everything: messages both ways, activities with and without a
    /// session, the cancellation of others' activities.
    async fn ack(&mut self, instance: &str, other: &str) {
        let Some(token) = self.turns.pop() else {
            return;
        };
        let own = token.rsplit(':').next().expect("the instance").to_owned();
        let event = self.next_event.fetch_add(1, Ordering::Relaxed) + 1;
        let session = self.dice.roll(3);
        let text = format!(
            r#"ack_orchestration_item @lock_token = N'{token}', @execution_id = 1, @orchestration_name = N'o', @orchestration_version = N'1',
               @history = N'[{{"event_id":{event},"payload":"x","payload_bytes":1}}]',
               @orchestrator_items = N'[{{"ord":0,"instance_id":"{instance}","kind":"StartOrchestration","payload":"x"}},{{"ord":1,"instance_id":"{other}","kind":"ExternalRaised","payload":"x"}}]',
               @worker_items = N'[{{"ord":0,"instance_id":"{own}","execution_id":1,"activity_id":1,"payload":"x"}},{{"ord":1,"instance_id":"{own}","execution_id":1,"activity_id":2,"session_id":"s{session}","payload":"x"}}]',
               @cancelled_activities = N'[{{"instance_id":"{instance}","execution_id":1,"activity_id":1}}]',
               @kv_changes = N'[{{"key":"k","value":"v","value_bytes":1,"updated_at_ms":1}}]'"#
        );
        self.call(&text).await;
    }

    async fn end_work(&mut self, instance: &str) {
        let Some(token) = self.work.pop() else { return };
        let text = match self.dice.roll(4) {
            0 => format!("abandon_work_item @lock_token = N'{token}'"),
            1 => format!("renew_work_item_lock @lock_token = N'{token}', @extend_ms = 60000"),
            2 => format!("ack_work_item @lock_token = N'{token}'"),
            _ => format!(
                "ack_work_item @lock_token = N'{token}', @instance_id = N'{instance}', @kind = N'ActivityCompleted', @payload = N'x'"
            ),
        };
        self.call(&text).await;
    }
}

/// No call is ever a deadlock's victim, and every rule holds when the dust has settled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_calls_never_deadlock() {
    for reads in [SnapshotReads::Off, SnapshotReads::On] {
        let schema = TestSchema::on(reads);
        schema.provider().await;
        let next_event = Arc::new(AtomicU64::new(0));
        let mut callers = Vec::new();
        for seed in 0..CALLERS {
            let mut caller = Caller {
                session: Session::open(&schema).await,
                dice: Dice(seed),
                turns: Vec::new(),
                work: Vec::new(),
                next_event: next_event.clone(),
            };
            callers.push(tokio::spawn(async move {
                for _ in 0..CALLS {
                    caller.step().await;
                }
            }));
        }
        for caller in callers {
            caller.await.expect("no caller fails");
        }
        let mut session = Session::open(&schema).await;
        for (rule, query) in RULES {
            assert_eq!(session.number(query).await, 0, "{reads:?}: {rule}");
        }
    }
}
