//! The engine: what all sessions share, behind one latch or with a small lock of its own.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::access::Latch;
use crate::activity::Activity;
use crate::adversary::{Adversary, AdversaryOptions, Choices};
use crate::ast::DelayedDurability;
use crate::catalog::{Catalog, Database, Login, ObjectId, TEMPDB};
use crate::clock::Clock;
use crate::commit_log::CommitLog;
use crate::error::{SqlError, SqlResult};
use crate::ghost_cleaner::{GHOSTS_PER_RUN, GhostCleaner};
use crate::hooks::Hooks;
use crate::plan::Module;
use crate::storage::{GhostCleanup, State, Txn};
use crate::value::Collation;

/// How many dynamic texts are kept compiled.
const TEXTS_KEPT: usize = 2_000;

/// How many bytes they may take together.
const TEXTS_KEPT_BYTES: usize = 64 << 20;

/// The first session id; SQL Server keeps those up to 50 for itself.
const FIRST_SPID: u16 = 51;
const LAST_SPID: u16 = i16::MAX as u16;

/// What all sessions share: databases, rows and locks in memory, gone with the last handle. A
/// server makes one, and [`crate::Controls`] steers it.
#[derive(Debug, Default)]
pub struct Engine {
    /// Everything sessions share. The mutex is the latch of [`crate::access::Latch`].
    pub(crate) state: Mutex<State>,
    /// Read for every timestamp and wait, so a tester who advances it moves both.
    pub clock: Clock,
    /// What durable commits wait for.
    pub(crate) log: CommitLog,
    /// Where the tester's controls take hold.
    pub(crate) hooks: Hooks,
    pub(crate) activity: Activity,
    texts: Mutex<Texts>,
    /// Compiled procedures with the version they were compiled from.
    modules: Mutex<HashMap<ObjectId, (u64, Arc<Module>)>>,
    /// Locks rows as Azure SQL and SQL Server 2025 do.
    pub(crate) optimized_locking: bool,
    /// Decides what SQL Server's documents leave open, if there is one.
    pub(crate) adversary: Option<Adversary>,
    pub(crate) ghost_cleaner: GhostCleaner,
    /// How many bytes the variables and statements of one session may hold.
    pub(crate) session_memory_bytes: usize,
    next_spid: AtomicU16,
}

/// Texts that are kept compiled.
#[derive(Debug, Default)]
struct Texts {
    /// By database, user, QUOTED_IDENTIFIER and text: what a text means depends on all four.
    modules: HashMap<String, Arc<Module>>,
    /// What they take in memory, about.
    bytes: usize,
}

#[derive(Clone, Debug)]
pub struct EngineOptions {
    pub sa_password: String,
    /// The collation of master and of new databases.
    pub collation: Collation,
    /// READ_COMMITTED_SNAPSHOT of master.
    pub read_committed_snapshot: bool,
    /// Locks rows as Azure SQL and SQL Server 2025 do.
    pub optimized_locking: bool,
    /// Who decides what SQL Server's documents leave open; `None` decides always the same.
    pub adversary: Option<AdversaryOptions>,
    /// When deleted entries leave their index; `None` is at once, and in the background with an adversary.
    pub ghost_cleanup: Option<GhostCleanup>,
    /// How long a commit waits for the log.
    pub commit_latency: Duration,
    /// How many bytes the variables and running statements of one session may hold before 701.
    pub session_memory_bytes: usize,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            sa_password: String::new(),
            collation: Collation::SqlLatin1CiAs,
            read_committed_snapshot: false,
            optimized_locking: false,
            adversary: None,
            ghost_cleanup: None,
            commit_latency: Duration::ZERO,
            session_memory_bytes: 512 << 20,
        }
    }
}

impl Engine {
    /// A new engine with an empty master database and the login sa.
    pub fn new(options: &EngineOptions) -> Arc<Self> {
        let engine = Self {
            next_spid: AtomicU16::new(FIRST_SPID),
            optimized_locking: options.optimized_locking,
            adversary: options.adversary.map(Adversary::new),
            session_memory_bytes: options.session_memory_bytes,
            ..Self::default()
        };
        if let Some(adversary) = &engine.adversary {
            engine.state.lock().locks.tell(adversary.turns());
        }
        engine.log.set_latency(options.commit_latency);
        let usual = match options.adversary {
            Some(_) => GhostCleanup::Background,
            None => GhostCleanup::AtOnce,
        };
        engine.set_ghost_cleanup(options.ghost_cleanup.unwrap_or(usual));
        let mut state = engine.state.lock();
        let mut master = Database::new(1, "master", options.collation);
        master.read_committed_snapshot = options.read_committed_snapshot;
        // SQL Server's master allows SNAPSHOT isolation, always.
        master.allow_snapshot_isolation = true;
        let catalog = state.catalog_mut();
        catalog
            .databases
            .insert("master".to_owned(), Arc::new(master));
        let tempdb = Database::new(2, TEMPDB, options.collation);
        catalog
            .databases
            .insert(TEMPDB.to_owned(), Arc::new(tempdb));
        catalog.next_object_id = 100_000;
        catalog.logins.insert(
            "sa".to_owned(),
            Login {
                name: "sa".to_owned(),
                id: 1,
                password: options.sa_password.clone(),
                sysadmin: true,
                default_database: "master".to_owned(),
                disabled: false,
            },
        );
        drop(state);
        Arc::new(engine)
    }

    /// The latch on what sessions share, not yet taken.
    pub fn latch(&self) -> Latch<'_> {
        Latch::new(&self.state, &self.clock)
    }

    /// The catalogue as it is now; it stays so for whoever holds it.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.state.lock().catalog)
    }

    /// A session id that no live session has. After 32,000 sessions, because @@SPID is a SMALLINT, the numbers come
    /// round again; a test server has not that many at once.
    pub(crate) fn new_session(&self) -> u16 {
        loop {
            let spid = self.next_spid.fetch_add(1, Ordering::Relaxed) & LAST_SPID;
            if spid >= FIRST_SPID && !self.hooks.is_live(spid) {
                self.hooks.session_started(spid);
                return spid;
            }
        }
    }

    /// Called when it is rolled back and holds no locks: from here on another session may have its
    /// number.
    pub(crate) fn end_session(&self, spid: u16) {
        if let Some(adversary) = &self.adversary {
            adversary.turns().leave(spid.into(), &self.clock);
        }
        self.activity.closed(spid);
        self.hooks.session_ended(spid);
    }

    pub(crate) fn kill(&self, spid: i64) -> SqlResult<()> {
        let known = u16::try_from(spid).is_ok_and(|s| self.hooks.kill(s));
        if known {
            return Ok(());
        }
        Err(SqlError::with(
            6106,
            16,
            2,
            format!("Process ID {spid} is not an active process ID."),
        ))
    }

    /// The compiled form of a procedure, if it is that of this version.
    pub(crate) fn module(&self, procedure: ObjectId, version: u64) -> Option<Arc<Module>> {
        let modules = self.modules.lock();
        let (of, module) = modules.get(&procedure)?;
        (*of == version).then(|| Arc::clone(module))
    }

    pub(crate) fn keep_module(&self, procedure: ObjectId, version: u64, module: &Arc<Module>) {
        let kept = (version, Arc::clone(module));
        self.modules.lock().insert(procedure, kept);
    }

    /// Forgets all compiled forms, as a cache that is short of memory does.
    pub(crate) fn forget_plans(&self) {
        self.modules.lock().clear();
        *self.texts.lock() = Texts::default();
    }

    pub(crate) fn forget_module(&self, procedure: ObjectId) {
        self.modules.lock().remove(&procedure);
    }

    pub(crate) fn text(&self, key: &str) -> Option<Arc<Module>> {
        self.texts.lock().modules.get(key).map(Arc::clone)
    }

    /// Keeps a compiled text that takes about so many bytes; when it is too many or too much, all others are forgotten.
    pub(crate) fn keep_text(&self, key: String, module: &Arc<Module>, bytes: usize) {
        let mut texts = self.texts.lock();
        if texts.modules.len() >= TEXTS_KEPT || texts.bytes + bytes > TEXTS_KEPT_BYTES {
            *texts = Texts::default();
        }
        texts.bytes += bytes;
        texts.modules.insert(key, Arc::clone(module));
    }
}

impl Engine {
    /// When deleted entries leave their index from now on.
    pub(crate) fn set_ghost_cleanup(&self, cleanup: GhostCleanup) {
        let mut state = self.state.lock();
        state.store.keep_ghosts(cleanup != GhostCleanup::AtOnce);
        if cleanup == GhostCleanup::AtOnce {
            state.store.clean_up_all_ghosts();
        }
        self.ghost_cleaner
            .run_by_itself(cleanup == GhostCleanup::Background);
    }

    /// The background's part, done when a statement begins: nobody could see that it happened earlier.
    pub(crate) fn clean_up_ghosts_if_due(&self, choices: Option<&Choices>) {
        if self.ghost_cleaner.is_due(&self.clock, choices) {
            self.state.lock().store.clean_up_ghosts(GHOSTS_PER_RUN);
        }
    }

    /// Commits a transaction of a session in `database`. Unless it wrote nothing, or the database that it wrote to
    /// lets it do without, it waits for the log first: with its locks, without the latch.
    pub(crate) fn commit(&self, latch: &mut Latch<'_>, txn: Txn, database: &str, delayed: bool) {
        if txn.undo_len() == 0 {
            txn.commit(latch);
            return;
        }
        let delayed = match durability(&latch.catalog, &txn, database) {
            DelayedDurability::Disabled => false,
            DelayedDurability::Allowed => delayed,
            DelayedDurability::Forced => true,
        };
        if delayed {
            latch.store.delay_durability();
            txn.commit(latch);
            return;
        }
        if self.log.has_latency() {
            latch.release();
        }
        self.log.harden();
        txn.commit(latch);
        latch.store.harden();
    }
}

/// DELAYED_DURABILITY of the database that a transaction changed. What changed several is durable, whatever they allow
/// ("Control transaction durability"). Definitions are the session's database's; temporary tables are nobody's.
fn durability(catalog: &Catalog, txn: &Txn, session: &str) -> DelayedDurability {
    let own = catalog.databases.get(session);
    let mut home: Option<&Database> = None;
    let mut seen = None;
    for changed in txn.changed() {
        if seen == Some(changed) {
            continue;
        }
        seen = Some(changed);
        let database = match changed {
            Some(table) => catalog.object(session, table).map(|found| found.database),
            None => own.map(Arc::as_ref),
        };
        match (home, database) {
            (Some(one), Some(other)) if one.id != other.id => return DelayedDurability::Disabled,
            (Some(_), _) | (None, None) => {}
            (None, Some(first)) => home = Some(first),
        }
    }
    home.or(own.map(Arc::as_ref))
        .map_or(DelayedDurability::Disabled, |d| d.delayed_durability)
}
