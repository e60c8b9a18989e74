//! One session of the load: it does whatever the dice say, on a few instances that all others use too.

use std::sync::Arc;

use tiberius::Row;

use super::account::Account;
use crate::support::dice::Dice;
use crate::support::session::Session;

/// Refusals that any caller must expect: somebody else was faster.
const LOST: [u32; 5] = [51_003, 51_004, 51_007, 51_008, 51_010];

/// A turn that was fetched.
struct Turn {
    token: String,
    instance: String,
    execution: i64,
    next_event: i64,
    messages: Vec<String>,
    /// When it was known, in numbers of the account.
    fetched_at: u64,
}

/// An activity that was fetched.
struct Work {
    token: String,
    name: String,
}

/// From where the next fetch may look, as the last one said.
#[derive(Default)]
struct From(Option<(i64, String)>);

impl From {
    fn of(head: &Row) -> Self {
        let floor: i64 = head.get("floor_ms").expect("a floor");
        let lanes = head.get::<&str, _>("lanes").unwrap_or("[]");
        Self(Some((floor, lanes.to_owned())))
    }

    /// Left out now and then, or from further below, as callers do once a second.
    fn take(&self, dice: &mut Dice) -> String {
        match (dice.roll(4), &self.0) {
            (0, _) | (_, None) => String::new(),
            (1, Some((floor, _))) => format!(", @floor_ms = {}", floor - 2_000),
            (_, Some((floor, lanes))) => format!(", @floor_ms = {floor}, @lanes = N'{lanes}'"),
        }
    }
}

pub struct Caller {
    pub session: Session,
    pub dice: Dice,
    /// Makes tokens, which no other caller makes.
    tokens: Dice,
    pub account: Arc<Account>,
    turns: Vec<Turn>,
    work: Vec<Work>,
    turns_from: From,
    work_from: From,
}

/// Instances whose names begin with `h` are never deleted, so their messages are accounted for.
fn is_kept(instance: &str) -> bool {
    instance.starts_with('h')
}

impl Caller {
    pub fn new(session: Session, seed: u64, account: Arc<Account>) -> Self {
        let (dice, turns, work) = (Dice(seed), Vec::new(), Vec::new());
        let tokens = Dice(seed << 32);
        Self {
            session,
            dice,
            tokens,
            account,
            turns,
            work,
            turns_from: From::default(),
            work_from: From::default(),
        }
    }

    async fn call(&mut self, text: &str) -> Option<Vec<Vec<Row>>> {
        match self.session.run(&format!("EXEC [$(schema)].{text};")).await {
            Ok(sets) => Some(sets),
            Err(number) if LOST.contains(&number) => None,
            Err(number) => panic!("error {number} from {text}"),
        }
    }

    fn instance(&mut self) -> String {
        match self.dice.roll(6) {
            n @ 0..4 => format!("h{n}"),
            n => format!("d{n}"),
        }
    }

    /// The same tokens each time, so that indexes have the same order.
    fn token(&mut self) -> uuid::Uuid {
        let mut part = || self.tokens.roll(u64::from(u32::MAX));
        let (high, low) = (part() << 32 | part(), part() << 32 | part());
        uuid::Uuid::from_u64_pair(high, low)
    }

    fn message(&mut self) -> String {
        format!("m{}", self.account.number())
    }

    pub async fn step(&mut self) {
        match self.dice.roll(16) {
            0 | 1 => self.enqueue().await,
            2..=4 => {
                self.fetch(60_000).await;
            }
            5..=7 => self.ack().await,
            8 | 9 => {
                let owner = self.dice.roll(3);
                self.fetch_work(owner, 60_000).await;
            }
            10 | 11 => self.end_work().await,
            12 => self.touch_turn().await,
            13 => self.keep_sessions().await,
            14 => self.remove().await,
            _ => self.look().await,
        }
    }

    /// Like a step, on the two instances that are deleted all the time and created again.
    pub async fn churn(&mut self) {
        match self.dice.roll(8) {
            0 | 1 => {
                let doomed = self.doomed();
                self.enqueue_for(doomed).await;
            }
            2..5 => {
                self.fetch(60_000).await;
            }
            5 | 6 => self.ack().await,
            _ => {
                let doomed = self.delete().await;
                self.enqueue_for(doomed).await;
            }
        }
    }

    fn doomed(&mut self) -> String {
        format!("d{}", 4 + self.dice.roll(2))
    }

    async fn enqueue(&mut self) {
        let instance = self.instance();
        self.enqueue_for(instance).await;
    }

    async fn enqueue_for(&mut self, instance: String) {
        let message = self.message();
        let delay = self.dice.roll(3) * 10;
        let text = format!(
            "enqueue_for_orchestrator @instance_id = N'{instance}', @kind = N'StartOrchestration', @payload = N'{message}', @delay_ms = {delay}"
        );
        if self.call(&text).await.is_some() && is_kept(&instance) {
            self.account.sent(&message);
        }
    }

    /// Whether a turn was found.
    async fn fetch(&mut self, lease_ms: u64) -> bool {
        let token = self.token();
        let text = format!(
            "fetch_orchestration_item @lock_token = N'{token}', @lock_timeout_ms = {lease_ms}{}",
            self.turns_from.take(&mut self.dice)
        );
        let sets = self.call(&text).await.expect("a fetch is never refused");
        let head = &sets[0][0];
        self.turns_from = From::of(head);
        if head.get("found") != Some(true) {
            return false;
        }
        let messages = sets[1].iter();
        let messages =
            messages.map(|row| row.get::<&str, _>("payload").expect("a payload").to_owned());
        // Before the last set, with a header in front of it or not.
        let last = sets[sets.len() - 2].last().map(|row| {
            let ended = row.get::<&str, _>("payload") == Some("end");
            (row.get::<i64, _>("event_id").expect("an id"), ended)
        });
        let execution: i64 = head.get("execution_id").expect("an execution");
        let (execution, next_event) = match last {
            None => (execution, 1),
            Some((_, true)) => (execution + 1, 1),
            Some((event, false)) => (execution, event + 1),
        };
        self.turns.push(Turn {
            token: head
                .get::<&str, _>("lock_token")
                .expect("a token")
                .to_owned(),
            instance: head
                .get::<&str, _>("instance_id")
                .expect("an instance")
                .to_owned(),
            execution,
            next_event,
            messages: messages.collect(),
            fetched_at: self.account.number(),
        });
        true
    }

    /// A turn that writes to everything: messages, timers, activities with and without a session,
    /// cancellations, key-values, and now and then the end of its execution.
    async fn ack(&mut self) {
        if self.turns.is_empty() {
            return;
        }
        let turn = self.turns.remove(0);
        let own = turn.instance.clone();
        let other = self.instance();
        let (sent, timer) = (self.message(), self.message());
        let activities: Vec<u64> = (0..self.dice.roll(3))
            .map(|_| self.account.number())
            .collect();
        let items: Vec<String> = activities.iter().map(|id| self.item(&own, *id)).collect();
        let choice = usize::try_from(self.dice.roll(1_000)).expect("small");
        let cancelled = self.account.some_activity(&format!("{own}#"), choice);
        let cancel = cancelled.as_ref().filter(|_| choice % 3 == 0);
        let (ends, sends) = (self.dice.roll(5) == 0, self.dice.roll(3) > 0);
        let (event, status) = match (ends, is_kept(&own)) {
            (false, _) => ("more", ""),
            (true, true) => ("end", ", @status = N'ContinuedAsNew'"),
            (true, false) => ("more", ", @status = N'Completed'"),
        };
        let mut text = format!(
            r#"ack_orchestration_item @lock_token = N'{}', @execution_id = {}, @orchestration_name = N'o', @orchestration_version = N'1'{status},
               @history = N'[{{"event_id":{},"payload":"{event}","payload_bytes":4}}]'"#,
            turn.token, turn.execution, turn.next_event
        );
        if sends {
            text += &format!(
                r#", @orchestrator_items = N'[{{"ord":0,"instance_id":"{other}","kind":"StartOrchestration","payload":"{sent}"}},{{"ord":1,"instance_id":"{own}","kind":"StartOrchestration","visible_at_ms":1000,"payload":"{timer}"}}]'"#
            );
        }
        if !items.is_empty() {
            text += &format!(", @worker_items = N'[{}]'", items.join(","));
        }
        if let Some(name) = cancel {
            let id = name.split('#').nth(1).expect("a number");
            text += &format!(
                r#", @cancelled_activities = N'[{{"instance_id":"{own}","execution_id":1,"activity_id":{id}}}]'"#
            );
        }
        if is_kept(&own) {
            let key = self.dice.roll(4);
            text +=
                &format!(r#", @kv_changes = N'[{{"key":"k{key}","value":"v","value_bytes":1}}]'"#);
        }
        let began = self.account.number();
        let is_acked = self.call(&text).await.is_some();
        self.account.settled(&own, turn.fetched_at, began, is_acked);
        if !is_acked {
            return;
        }
        if is_kept(&own) {
            turn.messages
                .iter()
                .for_each(|message| self.account.consumed(message));
            if sends {
                self.account.sent(&timer);
            }
            activities
                .iter()
                .for_each(|id| self.account.scheduled(&format!("{own}#{id}")));
            if let Some(name) = cancel {
                self.account.cancelled(name);
            }
        }
        if sends && is_kept(&other) {
            self.account.sent(&sent);
        }
    }

    fn item(&mut self, instance: &str, id: u64) -> String {
        let session = match self.dice.roll(3) {
            0 => String::new(),
            n => format!(r#""session_id":"s{n}","#),
        };
        let tag = match self.dice.roll(3) {
            0 => r#""tag":"gpu","#,
            _ => "",
        };
        format!(
            r#"{{"ord":{id},"instance_id":"{instance}","execution_id":1,"activity_id":{id},{session}{tag}"payload":"{instance}#{id}"}}"#
        )
    }

    /// Whether an activity was found.
    async fn fetch_work(&mut self, owner: u64, lease_ms: u64) -> bool {
        let token = self.token();
        let text = format!(
            "fetch_work_item @lock_token = N'{token}', @lock_timeout_ms = {lease_ms}, @any_tag = 1, @session_owner = N'w{owner}', @session_timeout_ms = {lease_ms}{}",
            self.work_from.take(&mut self.dice)
        );
        let sets = self.call(&text).await.expect("a fetch is never refused");
        let head = &sets[0][0];
        self.work_from = From::of(head);
        if head.get("found") != Some(true) {
            return false;
        }
        self.work.push(Work {
            token: head
                .get::<&str, _>("lock_token")
                .expect("a token")
                .to_owned(),
            name: head
                .get::<&str, _>("payload")
                .expect("a payload")
                .to_owned(),
        });
        true
    }

    async fn end_work(&mut self) {
        if self.work.is_empty() {
            return;
        }
        let work = self.work.remove(0);
        match self.dice.roll(6) {
            0 => {
                let delay = self.dice.roll(2) * 20;
                let text = format!(
                    "abandon_work_item @lock_token = N'{}', @delay_ms = {delay}",
                    work.token
                );
                self.call(&text).await;
            }
            1 => {
                let text = format!(
                    "renew_work_item_lock @lock_token = N'{}', @extend_ms = 60000",
                    work.token
                );
                if self.call(&text).await.is_some() {
                    self.work.push(work);
                }
            }
            _ => self.perform(work).await,
        }
    }

    async fn perform(&mut self, work: Work) {
        let instance = work.name.split('#').next().expect("an instance").to_owned();
        let message = self.message();
        let text = format!(
            "ack_work_item @lock_token = N'{}', @instance_id = N'{instance}', @kind = N'ActivityCompleted', @payload = N'{message}'",
            work.token
        );
        if self.call(&text).await.is_some() && is_kept(&instance) {
            self.account.performed(&work.name);
            self.account.sent(&message);
        }
    }

    async fn touch_turn(&mut self) {
        if self.turns.is_empty() {
            return;
        }
        let turn = self.turns.remove(0);
        let token = &turn.token;
        if self.dice.roll(2) == 0 {
            let text = format!(
                "abandon_orchestration_item @lock_token = N'{token}', @delay_ms = 5, @ignore_attempt = 1"
            );
            self.call(&text).await;
        } else {
            let text = format!(
                "renew_orchestration_item_lock @lock_token = N'{token}', @extend_ms = 60000"
            );
            let began = self.account.number();
            let is_renewed = self.call(&text).await.is_some();
            self.account
                .settled(&turn.instance, turn.fetched_at, began, is_renewed);
            if is_renewed {
                self.turns.push(turn);
            }
        }
    }

    async fn keep_sessions(&mut self) {
        self.call(r#"renew_session_lock @owner_ids = N'["w0","w1","w2"]', @extend_ms = 60000, @idle_timeout_ms = 60000"#).await;
        self.call("cleanup_orphaned_sessions").await;
        let owner = self.dice.roll(8);
        self.call(&format!(r#"release_sessions @owner_ids = N'["w{owner}"]'"#))
            .await;
    }

    async fn remove(&mut self) {
        let kept = self.dice.roll(4);
        let began = self.account.number();
        match self.dice.roll(4) {
            0 => {
                self.delete().await;
            }
            1 => {
                let text = r#"delete_instances_atomic @instance_ids = N'["d4","d5"]', @force = 1"#;
                let sets = self.call(text).await;
                let count =
                    sets.and_then(|sets| sets.first()?.first()?.get::<i64, _>("instances_deleted"));
                // One of them may not have existed; then nobody knows which.
                if count == Some(2) {
                    self.account.deleted("d4", began);
                    self.account.deleted("d5", began);
                }
            }
            2 => {
                self.call("delete_instance_bulk").await;
            }
            _ => {
                let text = format!("prune_executions @instance_id = N'h{kept}', @keep_last = 1");
                self.call(&text).await;
            }
        }
    }

    async fn delete(&mut self) -> String {
        let (doomed, began) = (self.doomed(), self.account.number());
        let text = format!("delete_instance @instance_id = N'{doomed}', @force = 1");
        if self.call(&text).await.is_some() {
            self.account.deleted(&doomed, began);
        }
        doomed
    }

    async fn look(&mut self) {
        let instance = self.instance();
        for text in [
            "get_system_metrics".to_owned(),
            "get_queue_depths".to_owned(),
            format!("get_kv_all_values @instance_id = N'{instance}'"),
            format!("get_kv_value @instance_id = N'{instance}', @kv_key = N'k1'"),
            "list_instances_by_status @status = N'Running'".to_owned(),
            "list_instances".to_owned(),
            format!("get_instance_info @instance_id = N'{instance}'"),
            format!("get_execution_info @instance_id = N'{instance}', @execution_id = 1"),
            format!("get_instance_tree @instance_id = N'{instance}'"),
            format!("list_children @instance_id = N'{instance}'"),
            format!("list_executions @instance_id = N'{instance}'"),
            format!("get_custom_status @instance_id = N'{instance}', @last_seen_version = 0"),
            "purge_orphan_messages @older_than_ms = 0".to_owned(),
            "prune_executions_bulk @keep_last = 1".to_owned(),
            format!("[read] @instance_id = N'{instance}'"),
            format!("[read] @instance_id = N'{instance}', @known_event_id = 0"),
        ] {
            self.call(&text).await;
        }
    }

    /// Fetches and ends everything that is left, after all leases and delays have ended.
    pub async fn finish(&mut self) {
        (self.turns, self.work) = (Vec::new(), Vec::new());
        loop {
            let mut idle = true;
            while self.fetch_work(0, 3_600_000).await {
                idle = false;
                let work = self.work.pop().expect("it was found");
                self.perform(work).await;
            }
            while self.fetch(3_600_000).await {
                idle = false;
                let turn = self.turns.pop().expect("it was found");
                let text = format!(
                    "ack_orchestration_item @lock_token = N'{}', @execution_id = {}",
                    turn.token, turn.execution
                );
                self.call(&text).await.expect("nobody else is here");
                if is_kept(&turn.instance) {
                    turn.messages
                        .iter()
                        .for_each(|message| self.account.consumed(message));
                }
            }
            if idle {
                return;
            }
        }
    }
}
