//! Waits in the database for the work of other processes.
//!
//! One connection of the process spends its time in `wait_for_work`, on behalf of all fetches that have
//! nothing to do, and wakes them when something is ready. It is opened beside the pool when the
//! first fetch falls idle. Without it the fetches ask at their intervals, so nothing here is ever
//! an error: what goes wrong is logged once, and tried again later.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::depths::Depths;
use crate::codec;
use crate::error::CallError;
use crate::observe::quiet;
use crate::pool::Live;
use crate::procedure::{Call, Database, Record};
use crate::retry::Retry;
use crate::time::{jittered, later};
use crate::wakeup::{Question, Seen, Wakeups, Wanted};

/// How long one call waits. A server that is told to stop does so at once; this bounds how long it
/// keeps on when its client has vanished without a word, and with [`GRACE`] how long a process is deaf
/// whose connections have all fallen silent.
const WAIT: Duration = Duration::from_secs(3);
/// How much later than promised an answer may come before the connection is given up.
const GRACE: Duration = Duration::from_secs(1);
/// A connection that has had nothing to wait for in this time is closed.
const IDLE: Duration = Duration::from_secs(60);
/// How long the server may take to acknowledge that a wait is over.
const CANCEL: Duration = Duration::from_secs(2);
/// Pauses after failures.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The pause after an answer that was of no use to anybody.
const PAUSE_USELESS: Duration = Duration::from_millis(250);

/// The task that watches, started when it is first needed.
pub(super) struct Watcher {
    is_started: AtomicBool,
    task: Mutex<Option<JoinHandle<()>>>,
    end: Arc<End>,
}

/// Ends the task.
#[derive(Default)]
struct End {
    is_wanted: AtomicBool,
    news: Notify,
}

impl End {
    fn want(&self) {
        self.is_wanted.store(true, Ordering::SeqCst);
        self.news.notify_waiters();
    }

    async fn wanted(&self) {
        loop {
            // Enabled before looking, so that no change is missed.
            let news = self.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            if self.is_wanted.load(Ordering::SeqCst) {
                return;
            }
            news.await;
        }
    }
}

impl Watcher {
    /// A watcher that begins to work at the first call of [`Watcher::start`].
    pub(super) fn new() -> Self {
        Self {
            is_started: AtomicBool::new(false),
            task: Mutex::default(),
            end: Arc::default(),
        }
    }

    /// Starts the task, unless it was started before.
    pub(super) fn start(&self, database: &Arc<Database>, wakeups: &Arc<Wakeups>) {
        if !database.options.wait_for_work || self.is_started.swap(true, Ordering::SeqCst) {
            return;
        }
        let watch = Watch {
            database: database.clone(),
            wakeups: wakeups.clone(),
            connection: None,
            looked_ms: None,
            depths: Depths::new(Instant::now()),
            has_warned: false,
            pause: PAUSE_FIRST,
        };
        let task = tokio::spawn(watch.run(self.end.clone()));
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    /// Ends the wait in the database, and the connection.
    pub(super) async fn close(&self) {
        self.is_started.store(true, Ordering::SeqCst);
        self.end.want();
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(task) = task {
            // It may have ended by itself, with its runtime.
            drop(task.await);
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.end.want();
    }
}

/// The state of the task.
struct Watch {
    database: Arc<Database>,
    wakeups: Arc<Wakeups>,
    connection: Option<(Live, Instant)>,
    /// When the last call that was answered looked last, by the server's clock.
    looked_ms: Option<i64>,
    depths: Depths,
    has_warned: bool,
    pause: Duration,
}

/// How a wait in the database ended.
enum Answer {
    /// What is ready, and when the server looked.
    Seen(Seen, Option<i64>),
    Failed(CallError),
    /// Another fetch has fallen idle; it has to be part of the question.
    Outdated,
}

impl Watch {
    async fn run(mut self, end: Arc<End>) {
        let wakeups = self.wakeups.clone();
        let _seat = tokio::select! {
            () = end.wanted() => return,
            seat = wakeups.seat() => seat,
        };
        let watching = Watching(self.wakeups.clone());
        tokio::select! {
            () = end.wanted() => {}
            () = self.watch() => {}
        }
        drop(watching);
        self.cancel().await;
    }

    async fn watch(&mut self) {
        loop {
            let Ok(wanted) = tokio::time::timeout(IDLE, self.wakeups.wanted()).await else {
                self.connection = None;
                continue;
            };
            match self.ask(&wanted).await {
                Answer::Seen(seen, looked_ms) => {
                    self.looked_ms = looked_ms;
                    self.has_warned = false;
                    self.pause = PAUSE_FIRST;
                    if !self.wakeups.seen(&seen) {
                        tokio::time::sleep(jittered(PAUSE_USELESS)).await;
                    }
                }
                Answer::Outdated => self.cancel().await,
                Answer::Failed(error) => self.failed(&error).await,
            }
        }
    }

    /// One call, for as long as the question is the right one.
    async fn ask(&mut self, wanted: &Wanted) -> Answer {
        let wait = WAIT.min(self.database.options.command_timeout);
        let floor_ms = self.floor_ms();
        let call = match call(&wanted.question(), wait) {
            Ok(call) => call.opt_int("@floor_ms", floor_ms),
            Err(error) => return Answer::Failed(error),
        };
        let (database, wakeups) = (self.database.clone(), self.wakeups.clone());
        let connection = match self.connection().await {
            Ok(connection) => connection,
            Err(error) => return Answer::Failed(error),
        };
        wakeups.watch(wanted);
        let due_at = later(Instant::now(), wait);
        tokio::select! {
            answer = database.ask_on(connection, &call, wait + GRACE) => {
                let answer = answer.and_then(|mut sets| {
                    let row = sets.row()?;
                    Ok((read(&row)?, row.opt_int("looked_ms")?))
                });
                match answer {
                    Ok((seen, looked_ms)) => Answer::Seen(seen, looked_ms),
                    Err(error) => {
                        if matches!(error, CallError::Timeout { .. }) {
                            // The fetches that ask now must not meet with the same silence: what has not been heard since this
                            // answer was due may be as dead.
                            database.pool.distrust_silent(due_at);
                            wakeups.unheard();
                        }
                        Answer::Failed(error)
                    }
                }
            }
            _ = wakeups.wanted_beside(wanted) => Answer::Outdated,
        }
    }

    /// From where a call looks: some way below where the last one looked. Whoever has fallen idle since then has asked
    /// for itself what is older.
    fn floor_ms(&mut self) -> Option<i64> {
        let depth_ms = i64::try_from(self.depths.next().as_millis()).unwrap_or(i64::MAX);
        self.looked_ms
            .map(|looked_ms| looked_ms.saturating_sub(depth_ms))
    }

    /// The connection to wait on, opened when there is none that can be used.
    async fn connection(&mut self) -> Result<&mut Live, CallError> {
        let Database { options, pool, .. } = &*self.database;
        let is_usable = |(connection, opened_at): &(Live, Instant)| {
            !connection.in_flight
                && !connection.is_closed()
                && opened_at.elapsed() < options.max_lifetime
                // A wait writes nothing, so that a server which lost the database may go on answering it.
                && !pool.has_moved_since(*opened_at)
        };
        let opened = match self.connection.take().filter(is_usable) {
            Some(opened) => opened,
            None => {
                // That may take as long as a login may, and nothing is watched meanwhile.
                self.wakeups.watch_nothing();
                (self.database.pool.open_own().await?, Instant::now())
            }
        };
        Ok(&mut self.connection.insert(opened).0)
    }

    /// Tells the server that nobody waits any more. A connection on which that fails is closed.
    async fn cancel(&mut self) {
        let Some((connection, _)) = &mut self.connection else {
            return;
        };
        if !connection.in_flight {
            return;
        }
        match tokio::time::timeout(CANCEL, quiet(connection.client.cancel_query())).await {
            Ok(Ok(())) => connection.in_flight = false,
            Ok(Err(_)) | Err(_) => self.connection = None,
        }
    }

    /// Fetches ask by themselves again; after a while this is tried anew.
    async fn failed(&mut self, error: &CallError) {
        self.connection = None;
        self.wakeups.watch_nothing();
        if self.has_warned {
            tracing::debug!(%error, "waiting in the database failed again");
        } else {
            tracing::warn!(
                %error,
                "waiting in the database for the work of other processes failed; it is looked \
                 for at intervals until that works again"
            );
            self.has_warned = true;
        }
        tokio::time::sleep(jittered(self.pause)).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
    }
}

/// Has the fetches ask by themselves when the task ends, whatever ends it.
struct Watching(Arc<Wakeups>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.watch_nothing();
    }
}

/// The question as a call.
fn call(question: &Question, wait: Duration) -> Result<Call<'static>, CallError> {
    let texts = |list: &[String]| {
        (!list.is_empty())
            .then(|| codec::texts(&list.iter().collect::<Vec<_>>()))
            .transpose()
    };
    let (min, max) = question.versions.unzip();
    Ok(Call::dispatch("wait_for_work", Retry::harmless())
        .millis("@wait_ms", wait)
        .flag("@orchestrations", question.orchestrations)
        .opt_int("@min_version", min)
        .opt_int("@max_version", max)
        .flag("@include_untagged", question.include_untagged)
        .flag("@any_tag", question.any_tag)
        .opt_text("@tags", texts(&question.tags)?)
        .flag("@sessions", question.sessions)
        .opt_text("@session_owners", texts(&question.session_owners)?))
}

fn read(row: &Record) -> Result<Seen, CallError> {
    let tag = |column| Ok::<_, CallError>(row.opt_text(column)?.map(tag_of));
    let owner = row.opt_text("owner_id")?.map(ToOwned::to_owned);
    Ok(Seen {
        orchestration: row.int("orchestration_ready")? != 0,
        work: tag("work_tag")?,
        session: tag("session_tag")?,
        owned: owner.zip(tag("owner_tag")?),
    })
}

/// The tag that a key stands for: in square brackets, or none at all.
fn tag_of(key: &str) -> Option<String> {
    let inner = key.strip_prefix('[')?.strip_suffix(']')?;
    Some(inner.to_owned())
}
