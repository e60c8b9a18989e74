//! What must hold after every call, checked along random walks through the provider's API.

use std::time::Duration;

use duroxide::Event;
use duroxide::EventKind;
use duroxide::providers::{Provider, SessionFetchConfig, TagFilter, WorkItem};

use super::Session;
use crate::support::checker::RULES;
use crate::support::database::{SnapshotReads, TestSchema};
use crate::support::dice::Dice;
use crate::support::items::{LEASE, metadata, start};

struct Walk {
    provider: duroxide_sql::MssqlProvider,
    dice: Dice,
    turns: Vec<(String, String, u64)>,
    work: Vec<String>,
}

impl Walk {
    async fn step(&mut self) {
        let instance = format!("i{}", self.dice.roll(4));
        let delay = (self.dice.roll(3) == 0).then(|| Duration::from_millis(self.dice.roll(20)));
        match self.dice.roll(11) {
            0 => self.enqueue(start(&instance), delay).await,
            1 => self.enqueue(raised(&instance), delay).await,
            2 | 3 => self.fetch().await,
            4 | 5 => self.ack().await,
            6 => self.abandon(delay).await,
            7 => self.add_work(&instance).await,
            8 => self.fetch_work().await,
            9 => self.end_work(delay).await,
            _ => self.forget(&instance).await,
        }
    }

    async fn enqueue(&mut self, item: WorkItem, delay: Option<Duration>) {
        self.provider
            .enqueue_for_orchestrator(item, delay)
            .await
            .expect("enqueue");
    }

    /// Leases are either long or over at once, so that expired ones are met without waiting.
    fn lease(&mut self) -> Duration {
        if self.dice.roll(4) == 0 {
            Duration::from_millis(1)
        } else {
            LEASE
        }
    }

    async fn fetch(&mut self) {
        let lease = self.lease();
        let fetched = self
            .provider
            .fetch_orchestration_item(lease, Duration::ZERO, None)
            .await;
        if let Some((item, token, _)) = fetched.expect("fetch") {
            let next = item.history.last().map_or(1, |event| event.event_id + 1);
            self.turns.push((item.instance, token, next));
        }
    }

    async fn ack(&mut self) {
        let Some((instance, token, next)) = self.turns.pop() else {
            return;
        };
        let events = (0..self.dice.roll(3))
            .map(|n| event(&instance, next + n))
            .collect();
        let other = format!("i{}", self.dice.roll(4));
        let messages = if self.dice.roll(2) == 0 {
            vec![start(&other), timer(&instance)]
        } else {
            vec![]
        };
        let mut metadata = metadata();
        metadata.status = (self.dice.roll(4) == 0).then(|| "Completed".to_owned());
        let result = self
            .provider
            .ack_orchestration_item(&token, 1, events, vec![], messages, metadata, vec![])
            .await;
        // A lease that ended, or a turn on an instance that was deleted, is refused; nothing else is.
        if let Err(error) = result {
            assert!(
                error.message.contains("Invalid lock token") || error.message.contains("duplicate"),
                "{error}"
            );
        }
    }

    async fn abandon(&mut self, delay: Option<Duration>) {
        let Some((_, token, _)) = self.turns.pop() else {
            return;
        };
        let ignore_attempt = self.dice.roll(2) == 0;
        let _ = self
            .provider
            .abandon_orchestration_item(&token, delay, ignore_attempt)
            .await;
    }

    async fn add_work(&mut self, instance: &str) {
        let session_id = (self.dice.roll(3) > 0).then(|| format!("s{}", self.dice.roll(3)));
        let item = WorkItem::ActivityExecute {
            instance: instance.into(),
            execution_id: 1,
            id: self.dice.roll(100),
            name: "Activity".into(),
            input: "{}".into(),
            session_id,
            tag: (self.dice.roll(3) == 0).then(|| "tag".to_owned()),
        };
        self.provider
            .enqueue_for_worker(item)
            .await
            .expect("enqueue_for_worker");
    }

    async fn fetch_work(&mut self) {
        let session = SessionFetchConfig {
            owner_id: format!("w{}", self.dice.roll(2)),
            lock_timeout: self.lease(),
        };
        let lease = self.lease();
        let filter = if self.dice.roll(2) == 0 {
            TagFilter::Any
        } else {
            TagFilter::default()
        };
        let fetched = self
            .provider
            .fetch_work_item(lease, Duration::ZERO, Some(&session), &filter)
            .await;
        if let Some((_, token, _)) = fetched.expect("fetch_work_item") {
            self.work.push(token);
        }
    }

    async fn end_work(&mut self, delay: Option<Duration>) {
        let Some(token) = self.work.pop() else { return };
        let _ = match self.dice.roll(3) {
            0 => self.provider.abandon_work_item(&token, delay, false).await,
            1 => self.provider.renew_work_item_lock(&token, LEASE).await,
            _ => self.provider.ack_work_item(&token, None).await,
        };
    }

    async fn forget(&mut self, instance: &str) {
        if self.dice.roll(3) == 0 {
            let admin = self
                .provider
                .as_management_capability()
                .expect("administration");
            admin
                .delete_instances_atomic(&[instance.to_owned()], true)
                .await
                .expect("deletion");
        } else {
            self.provider
                .renew_session_lock(&["w0", "w1"], LEASE, LEASE)
                .await
                .expect("renewal");
            self.provider
                .cleanup_orphaned_sessions(LEASE)
                .await
                .expect("clean-up");
        }
    }
}

fn raised(instance: &str) -> WorkItem {
    WorkItem::ExternalRaised {
        instance: instance.into(),
        name: "event".into(),
        data: "{}".into(),
    }
}

fn timer(instance: &str) -> WorkItem {
    WorkItem::TimerFired {
        instance: instance.into(),
        execution_id: 1,
        id: 1,
        fire_at_ms: 1_000,
    }
}

fn event(instance: &str, event_id: u64) -> Event {
    Event::with_event_id(
        event_id,
        instance,
        1,
        None,
        EventKind::OrchestrationCompleted {
            output: "{}".into(),
        },
    )
}

/// Random walks with fixed seeds; every rule holds after every step.
#[tokio::test]
async fn rules_hold_after_every_step_of_random_walks() {
    for (reads, seed) in [
        (SnapshotReads::Off, 1),
        (SnapshotReads::On, 2),
        (SnapshotReads::Off, 3),
    ] {
        let schema = TestSchema::on(reads);
        let mut walk = Walk {
            provider: schema.provider().await,
            dice: Dice(seed),
            turns: Vec::new(),
            work: Vec::new(),
        };
        let mut session = Session::open(&schema).await;
        for step in 0..250 {
            walk.step().await;
            for (rule, query) in RULES {
                assert_eq!(
                    session.number(query).await,
                    0,
                    "seed {seed}, step {step}: {rule}"
                );
            }
        }
    }
}
