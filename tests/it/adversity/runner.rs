//! One sequence of calls: each is made on the provider and on the model, and the answers compared.

use std::time::Duration;

use duroxide::EventKind;
use duroxide::providers::{
    ExecutionMetadata, Provider, ProviderError, PruneOptions, ScheduledActivityIdentifier, WorkItem,
};
use duroxide_sql::MssqlProvider;
use mssql_embedded::Controls;

use super::model::{Model, Ms, Turn, Work};
use super::operations::{Change, Operation};
use crate::support::items::{event, metadata, start};

/// The unit of delays, leases and jumps: far more than a sequence takes, so that the time which
/// passes by itself decides nothing.
pub const TICK: Duration = Duration::from_secs(1_000);
const TICK_MS: Ms = 1_000_000;

/// A turn or an activity that was fetched at some time; its token may be stale by now.
pub struct Held {
    pub token: String,
    pub instance: String,
    pub execution: u64,
    pub next_event: u64,
}

pub struct Runner<'a> {
    pub provider: &'a MssqlProvider,
    pub controls: &'a Controls,
    pub model: Model,
    /// Sets the instances of one sequence apart from those of all others.
    pub prefix: String,
    pub turns: Vec<Held>,
    pub work: Vec<Held>,
    pub activities: u64,
}

pub fn ticks(n: u64) -> Duration {
    TICK * u32::try_from(n).expect("few ticks")
}

pub fn ms(n: u64) -> Ms {
    TICK_MS * Ms::try_from(n).expect("few ticks")
}

/// The provider's answer must be a success exactly when the model's is.
pub fn same(expected: bool, answer: Result<(), ProviderError>) -> Result<(), String> {
    match answer {
        Ok(()) if expected => Ok(()),
        Err(error) if !expected && !error.is_retryable() => Ok(()),
        Ok(()) => Err("accepted, but the lease is lost".to_owned()),
        Err(error) => Err(format!("refused: {error}")),
    }
}

pub fn equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: &T,
    expected: &T,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {found:?} instead of {expected:?}"))
}

pub fn text<T>(result: Result<T, ProviderError>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

impl Runner<'_> {
    fn name(&self, instance: u64) -> String {
        format!("{}-{instance}", self.prefix)
    }

    pub fn pick(list: &[Held], choice: u64) -> Option<&Held> {
        let choice = usize::try_from(choice).expect("a small number");
        (!list.is_empty()).then(|| &list[list.len() - 1 - choice % list.len()])
    }

    pub async fn step(&mut self, operation: &Operation) -> Result<(), String> {
        // Times of different calls differ, so that ties do not decide either.
        self.controls.advance(Duration::from_millis(2));
        let now = self.controls.now_ms();
        match operation {
            Operation::Enqueue {
                instance,
                is_start,
                delay,
            } => self.enqueue(*instance, *is_start, *delay, now).await,
            Operation::Fetch { lease } => self.fetch(*lease, now).await,
            Operation::Ack {
                turn,
                changes,
                status,
                next_execution,
                message,
                timer,
                work,
                cancel,
            } => {
                let Some(held) = Self::pick(&self.turns, *turn) else {
                    return Ok(());
                };
                let (token, instance) = (held.token.clone(), held.instance.clone());
                let execution = held.execution + u64::from(*next_execution);
                let first = if *next_execution { 1 } else { held.next_event };
                let events = self.events(&instance, first, changes);
                let messages = self.messages(&instance, *message, *timer, now);
                let items = self.items(&instance, work);
                let cancelled = cancel.map(|n| (instance.clone(), n % (self.activities + 1)));
                self.ack(
                    &token,
                    &instance,
                    execution,
                    events,
                    status.as_deref(),
                    messages,
                    items,
                    cancelled,
                    now,
                )
                .await
            }
            Operation::Abandon {
                turn,
                delay,
                ignore,
            } => {
                let Some(token) = Self::pick(&self.turns, *turn).map(|t| t.token.clone()) else {
                    return Ok(());
                };
                let expected = self
                    .model
                    .abandon(&token, delay.map(|d| now + ms(d)), *ignore);
                let delay = delay.map(ticks);
                same(
                    expected,
                    self.provider
                        .abandon_orchestration_item(&token, delay, *ignore)
                        .await,
                )
            }
            Operation::Renew { turn, extend } => {
                let Some(token) = Self::pick(&self.turns, *turn).map(|t| t.token.clone()) else {
                    return Ok(());
                };
                let expected = self.model.renew(&token, now, now + ms(*extend));
                same(
                    expected,
                    self.provider
                        .renew_orchestration_item_lock(&token, ticks(*extend))
                        .await,
                )
            }
            Operation::EnqueueWork {
                instance,
                session,
                tag,
            } => {
                let instance = self.name(*instance);
                let item = self.items(&instance, &[(*session, *tag)]).remove(0);
                let sent = self.provider.enqueue_for_worker(item.item.clone()).await;
                self.model.work.push(Work {
                    not_before: now,
                    enqueued: now,
                    ..item
                });
                text(sent)
            }
            Operation::FetchWork {
                owner,
                filter,
                lease,
                session_lease,
            } => {
                self.fetch_work(*owner, *filter, *lease, *session_lease, now)
                    .await
            }
            Operation::AckWork { work, completes } => self.ack_work(*work, *completes, now).await,
            Operation::AbandonWork {
                work,
                delay,
                ignore,
            } => self.abandon_work(*work, *delay, *ignore, now).await,
            Operation::RenewWork { work, extend } => self.renew_work(*work, *extend, now).await,
            Operation::RenewSessions { extend, idle } => {
                self.renew_sessions(*extend, *idle, now).await
            }
            Operation::Cleanup => self.clean_up(now).await,
            Operation::Delete { instance, force } => {
                let name = self.name(*instance);
                let expected = self.model.delete(&name, *force);
                let admin = self
                    .provider
                    .as_management_capability()
                    .expect("administration");
                same(
                    expected,
                    admin.delete_instance(&name, *force).await.map(drop),
                )
            }
            Operation::Prune { instance, keep } => self.prune(*instance, *keep).await,
            Operation::Read { instance } => self.read(*instance).await,
            Operation::Jump { ticks: n } => {
                self.controls.advance(ticks(*n));
                Ok(())
            }
        }
    }

    async fn enqueue(
        &mut self,
        instance: u64,
        is_start: bool,
        delay: u64,
        now: Ms,
    ) -> Result<(), String> {
        let name = self.name(instance);
        let item = if is_start {
            start(&name)
        } else {
            WorkItem::ExternalRaised {
                instance: name.clone(),
                name: "e".into(),
                data: delay.to_string(),
            }
        };
        self.model.send(&name, item.clone(), now + ms(delay));
        let delay = (delay > 0).then(|| ticks(delay));
        text(self.provider.enqueue_for_orchestrator(item, delay).await)
    }

    async fn fetch(&mut self, lease: u64, now: Ms) -> Result<(), String> {
        let fetched = self
            .provider
            .fetch_orchestration_item(ticks(lease), Duration::ZERO, None)
            .await;
        let ready = self.model.ready_instances(now);
        let Some((item, token, attempts)) = text(fetched)? else {
            return equal("ready, but not fetched", &ready, &Default::default());
        };
        if !ready.contains(&item.instance) {
            return Err(format!(
                "{} is not ready, these are: {ready:?}",
                item.instance
            ));
        }
        let claimed = self
            .model
            .claim(&item.instance, &token, now, now + ms(lease));
        equal(
            "messages and attempts",
            &(item.messages, attempts),
            &claimed,
        )?;
        let state = &self.model.instances[&item.instance];
        let (execution, history) = state.history();
        equal("execution", &item.execution_id, &execution)?;
        equal("history", &item.history, &history)?;
        let snapshot = item
            .kv_snapshot
            .into_iter()
            .map(|(key, entry)| (key, entry.value));
        equal("key-values", &snapshot.collect(), &state.store)?;
        let next_event = history.last().map_or(1, |event| event.event_id() + 1);
        let instance = item.instance;
        self.turns.push(Held {
            token,
            instance,
            execution,
            next_event,
        });
        Ok(())
    }

    fn events(&self, instance: &str, first: u64, changes: &[Change]) -> Vec<duroxide::Event> {
        let kinds = changes.iter().map(|change| match change {
            Change::Set(key, value) => EventKind::KeyValueSet {
                key: format!("k{key}"),
                value: format!("v{value}"),
                last_updated_at_ms: 1,
            },
            Change::Clear(key) => EventKind::KeyValueCleared {
                key: format!("k{key}"),
            },
            Change::ClearAll => EventKind::KeyValuesCleared,
            Change::Status(status) => EventKind::CustomStatusUpdated {
                status: status.map(|s| s.to_string()),
            },
        });
        (first..)
            .zip(kinds)
            .map(|(id, kind)| event(instance, id, kind))
            .collect()
    }

    fn messages(
        &self,
        own: &str,
        message: Option<u64>,
        timer: Option<u64>,
        now: Ms,
    ) -> Vec<(String, WorkItem, Ms)> {
        let other = message.map(|instance| {
            let name = self.name(instance);
            (name.clone(), start(&name), now)
        });
        let timer = timer.map(|delay| {
            let fire_at_ms = u64::try_from(now + ms(delay)).expect("a time");
            let fired = WorkItem::TimerFired {
                instance: own.to_owned(),
                execution_id: 1,
                id: 1,
                fire_at_ms,
            };
            (own.to_owned(), fired, now + ms(delay))
        });
        other.into_iter().chain(timer).collect()
    }

    fn items(&mut self, instance: &str, wanted: &[(Option<u64>, bool)]) -> Vec<Work> {
        let mut items = Vec::new();
        for (session, tag) in wanted {
            self.activities += 1;
            let session = session.map(|s| format!("{}-s{s}", self.prefix));
            let tag = tag.then(|| "gpu".to_owned());
            let item = WorkItem::ActivityExecute {
                instance: instance.to_owned(),
                execution_id: 1,
                id: self.activities,
                name: "Activity".into(),
                input: "{}".into(),
                session_id: session.clone(),
                tag: tag.clone(),
            };
            let (instance, activity) = (instance.to_owned(), self.activities);
            let (not_before, enqueued, attempts, token) = (0, 0, 0, None);
            items.push(Work {
                instance,
                activity,
                item,
                session,
                tag,
                not_before,
                enqueued,
                attempts,
                token,
            });
        }
        items
    }

    #[expect(clippy::too_many_arguments, reason = "an ack has as many")]
    async fn ack(
        &mut self,
        token: &str,
        instance: &str,
        execution: u64,
        events: Vec<duroxide::Event>,
        status: Option<&str>,
        messages: Vec<(String, WorkItem, Ms)>,
        work: Vec<Work>,
        cancelled: Option<(String, u64)>,
        now: Ms,
    ) -> Result<(), String> {
        let activities = cancelled.iter().map(|(instance, activity_id)| {
            let (instance, execution_id, activity_id) = (instance.clone(), 1, *activity_id);
            ScheduledActivityIdentifier {
                instance,
                execution_id,
                activity_id,
            }
        });
        let metadata = ExecutionMetadata {
            status: status.map(str::to_owned),
            ..metadata()
        };
        let items = work.iter().map(|work| work.item.clone()).collect();
        let sent = messages.iter().map(|(_, item, _)| item.clone()).collect();
        let answer = self
            .provider
            .ack_orchestration_item(
                token,
                execution,
                events.clone(),
                items,
                sent,
                metadata,
                activities.collect(),
            )
            .await;
        let work = work.into_iter().map(|work| Work {
            not_before: now,
            enqueued: now,
            ..work
        });
        let status = status.map(str::to_owned);
        let turn = Turn {
            execution,
            events,
            status,
            messages,
            work: work.collect(),
            cancelled,
        };
        let expected = self.model.ack(token, turn, now);
        same(expected, answer).map_err(|why| format!("{instance}: {why}"))
    }

    async fn prune(&mut self, instance: u64, keep: u64) -> Result<(), String> {
        let name = self.name(instance);
        let keep_last = u32::try_from(keep).expect("few");
        let expected = self.model.prune(&name, keep_last as usize);
        let options = PruneOptions {
            keep_last: Some(keep_last),
            ..PruneOptions::default()
        };
        let admin = self
            .provider
            .as_management_capability()
            .expect("administration");
        let pruned = admin.prune_executions(&name, options).await;
        equal(
            "pruned executions",
            &pruned.ok().map(|result| result.executions_deleted),
            &expected,
        )
    }

    /// What a client can see of an instance.
    async fn read(&mut self, instance: u64) -> Result<(), String> {
        let name = self.name(instance);
        let admin = self
            .provider
            .as_management_capability()
            .expect("administration");
        let state = self.model.instances.get(&name).cloned().unwrap_or_default();
        let latest = state
            .executions
            .last_key_value()
            .map(|(_, execution)| execution.events.clone());
        equal(
            "history",
            &text(self.provider.read(&name).await)?,
            &latest.unwrap_or_default(),
        )?;
        let executions: Vec<u64> = state.executions.keys().copied().collect();
        equal(
            "executions",
            &text(admin.list_executions(&name).await)?,
            &executions,
        )?;
        let values = text(self.provider.get_kv_all_values(&name).await)?;
        equal("key-values", &values.into_iter().collect(), &state.values())?;
        let custom = (state.custom_version > 0)
            .then_some((state.custom_status.clone(), state.custom_version));
        equal(
            "custom status",
            &text(self.provider.get_custom_status(&name, 0).await)?,
            &custom,
        )?;
        let info = admin.get_instance_info(&name).await.ok();
        let info = info.map(|info| (info.status, info.current_execution_id));
        let known = state
            .is_known
            .then(|| (state.status().to_owned(), state.current));
        equal("status", &info, &known)
    }
}
