//! The state of one session that outlives its requests.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use crate::access::Latch;
use crate::activity::SessionSettings;
use crate::adversary::Choices;
use crate::ast::{IsolationLevel, ObjectName, Switch};
use crate::catalog::{
    Catalog, Database, Object, ObjectId, TEMPDB, TableDef, TemporaryTables, is_temporary,
};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult};
use crate::fast_map::FastMap;
use crate::lock::LockOwner;
use crate::memory::{Charge, LARGE_BYTES, Memory};
use crate::plan::Against;
use crate::storage::{Mark, Txn};
use crate::value::Value;

use super::random::Random;

/// How many names of procedures a session remembers.
const NAMES_KEPT: usize = 256;

/// SET options.
#[derive(Clone, Debug)]
pub struct Settings {
    pub nocount: bool,
    /// NOEXEC: statements are compiled and not executed, until it is switched off.
    pub noexec: bool,
    pub xact_abort: bool,
    pub quoted_identifier: bool,
    pub implicit_transactions: bool,
    /// LOCK_TIMEOUT in milliseconds; without one a session waits for ever.
    pub lock_timeout_ms: Option<u64>,
    /// -10 to 10; of a cycle the lowest is the victim.
    pub deadlock_priority: i32,
    pub isolation: IsolationLevel,
    /// The table with IDENTITY_INSERT ON.
    pub identity_insert: Option<ObjectId>,
    /// 1 (Monday) to 7 (Sunday).
    pub datefirst: u8,
    /// ROWCOUNT: how many rows a statement returns or changes at most.
    pub rowcount_limit: Option<NonZeroU64>,
    /// TEXTSIZE, as @@TEXTSIZE shows it: nothing is ever cut.
    pub textsize: i64,
    pub language: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            nocount: false,
            noexec: false,
            xact_abort: false,
            quoted_identifier: true,
            implicit_transactions: false,
            lock_timeout_ms: None,
            deadlock_priority: 0,
            isolation: IsolationLevel::ReadCommitted,
            identity_insert: None,
            datefirst: 7,
            rowcount_limit: None,
            textsize: -1,
            language: "us_english".to_owned(),
        }
    }
}

impl Settings {
    /// @@OPTIONS. ANSI_WARNINGS (8), ANSI_PADDING (16), ANSI_NULLS (32), ARITHABORT (64), ANSI_NULL_DFLT_ON (1024) and
    /// CONCAT_NULL_YIELDS_NULL (4096) are always on.
    pub fn option_bits(&self) -> i64 {
        let bits = [
            (self.implicit_transactions, 2),
            (self.quoted_identifier, 256),
            (self.nocount, 512),
            (self.xact_abort, 16384),
        ];
        let always = 8 + 16 + 32 + 64 + 1024 + 4096;
        let set = bits.iter().filter(|(on, _)| *on).map(|(_, bit)| bit);
        always + set.sum::<i64>()
    }

    /// An option as SESSIONPROPERTY shows it; `None` for those that it does not know.
    pub fn option(&self, switch: Switch) -> Option<bool> {
        match switch {
            Switch::AnsiNulls
            | Switch::AnsiPadding
            | Switch::AnsiWarnings
            | Switch::ArithAbort
            | Switch::ConcatNullYieldsNull => Some(true),
            Switch::NumericRoundAbort => Some(false),
            Switch::QuotedIdentifier => Some(self.quoted_identifier),
            Switch::NoCount
            | Switch::NoExec
            | Switch::XactAbort
            | Switch::ImplicitTransactions
            | Switch::AnsiNullDfltOn
            | Switch::AnsiNullDfltOff
            | Switch::ArithIgnore
            | Switch::CursorCloseOnCommit
            | Switch::ParseOnly
            | Switch::FmtOnly
            | Switch::AnsiDefaults => None,
        }
    }

    /// What sys.dm_exec_sessions shows of them.
    pub fn shown(&self) -> SessionSettings {
        let lock_timeout = self.lock_timeout_ms;
        SessionSettings {
            transaction_isolation_level: match self.isolation {
                IsolationLevel::ReadUncommitted => 1,
                IsolationLevel::ReadCommitted => 2,
                IsolationLevel::RepeatableRead => 3,
                IsolationLevel::Serializable => 4,
                IsolationLevel::Snapshot => 5,
            },
            lock_timeout: lock_timeout.map_or(-1, |ms| i32::try_from(ms).unwrap_or(i32::MAX)),
            deadlock_priority: self.deadlock_priority,
        }
    }

    /// How long a lock request may wait.
    pub fn lock_timeout(&self) -> Option<Duration> {
        self.lock_timeout_ms.map(Duration::from_millis)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ActingAs {
    pub sysadmin: bool,
    pub user: i32,
}

/// What SAVE TRANSACTION has marked.
#[derive(Debug)]
pub struct Savepoint {
    pub name: String,
    pub mark: Mark,
    /// Nothing limits their number but the session's memory.
    _charge: Charge,
}

impl Savepoint {
    /// A savepoint on the session's account.
    ///
    /// # Errors
    ///
    /// 701 when it may not have it.
    pub fn new(name: String, mark: Mark, memory: &Arc<Memory>) -> SqlResult<Self> {
        let bytes = size_of::<Self>() + name.len();
        // The ROLLBACK that gives them all up must still find room.
        memory.room(bytes + LARGE_BYTES)?;
        let mut charge = memory.charge();
        charge.add(bytes)?;
        Ok(Self {
            name,
            mark,
            _charge: charge,
        })
    }
}

/// What the session is, apart from its connection.
pub struct Core {
    pub engine: Arc<Engine>,
    pub spid: u16,
    pub login: String,
    pub sysadmin: bool,
    /// Its principal id in the current database.
    pub user: i32,
    /// Who the session was before each EXECUTE AS in force, innermost last.
    pub impersonated: Vec<ActingAs>,
    /// The current database, folded.
    pub database: String,
    /// The one that it logged in to, where a reset takes it back.
    pub home: String,
    pub app_name: String,
    pub host_name: String,
    pub settings: Settings,
    /// What it may hold in memory, and holds.
    pub memory: Arc<Memory>,
    /// The open transaction: the user's, or that of the running statement.
    pub txn: Option<Txn>,
    /// Nested BEGIN TRAN; only the outermost COMMIT commits.
    pub trancount: u32,
    /// Whether the transaction can only be rolled back: XACT_STATE() = -1.
    pub doomed: bool,
    pub savepoints: Vec<Savepoint>,
    /// The name given to the outermost BEGIN TRAN.
    pub transaction_name: Option<String>,
    pub rowcount: i64,
    pub error: i32,
    pub identity: Value,
    /// SCOPE_IDENTITY() of the session's own batches, which are one scope.
    pub scope_identity: Value,
    /// Whether the open transaction began under SNAPSHOT, which it must have to read so.
    pub began_in_snapshot: bool,
    /// The errors that the CATCH blocks being run have caught, innermost last.
    pub caught: Vec<SqlError>,
    /// How many procedures are active: @@NESTLEVEL.
    pub nest_level: u32,
    /// How many TRY blocks are active in all frames.
    pub try_depth: u32,
    /// NEWID and RAND.
    pub random: Random,
    /// Messages that the running statement wants shown (severity 10), such as 1945.
    pub notices: Vec<SqlError>,
    /// Whether an aggregate of the running statement has passed over a NULL.
    pub nulls_eliminated: bool,
    /// CONTEXT_INFO(), 128 bytes once it has been set.
    pub context_info: Option<Arc<[u8]>>,
    /// What the adversary decides for the running statement, if there is one.
    pub choices: Option<Choices>,
    /// How many statements it has begun, with an adversary.
    pub statements: u64,
    pub temporaries: TemporaryTables,
    /// What was prepared, by handle.
    pub prepared: HashMap<i32, (Prepared, Charge)>,
    pub next_handle: i32,
    /// Names of procedures that its client called, taken apart.
    pub called: FastMap<String, Arc<ObjectName>>,
}

/// What sp_execute runs.
#[derive(Clone, Debug)]
pub enum Prepared {
    /// A text and its parameter list.
    Text(String, String),
    Call(ObjectName),
}

impl Prepared {
    fn bytes(&self) -> usize {
        let texts = match self {
            Self::Text(text, declared) => text.len() + declared.len(),
            Self::Call(name) => name.parts.iter().map(|part| part.name.len()).sum(),
        };
        size_of::<(i32, Self, Charge)>() + texts
    }
}

impl Core {
    /// Asks the adversary, if there is one, what it has in store for the statement that begins.
    pub fn begin_choices(&mut self) {
        if let Some(adversary) = &self.engine.adversary {
            self.statements += 1;
            self.choices = Some(adversary.statement(self.spid, self.statements));
        }
    }

    /// Makes a database current, in which the session is that user; the one it was in before.
    pub fn enter(&mut self, database: String, user: i32) -> String {
        self.engine.activity.entered(self.spid, &database);
        self.user = user;
        std::mem::replace(&mut self.database, database)
    }

    /// Takes the name of a procedure apart, or remembers how it was done: clients call the same few all the time.
    ///
    /// # Errors
    ///
    /// Those of the parser.
    pub fn procedure_name(&mut self, text: &str) -> SqlResult<Arc<ObjectName>> {
        if let Some(name) = self.called.get(text) {
            return Ok(Arc::clone(name));
        }
        let name = Arc::new(crate::parse::parse_name(text)?);
        if self.called.len() < NAMES_KEPT {
            self.called.insert(text.to_owned(), Arc::clone(&name));
        }
        Ok(name)
    }

    /// Takes over settings, and lets others see them.
    pub fn restore(&mut self, settings: Settings) {
        let changed = settings.shown() != self.settings.shown();
        self.settings = settings;
        if changed {
            self.show_settings();
        }
    }

    /// Lets others see the settings as they are now.
    pub fn show_settings(&self) {
        self.engine.activity.set(self.spid, self.settings.shown());
    }

    pub fn lock_owner(&self) -> LockOwner {
        LockOwner::from(self.spid)
    }

    /// What the names of a statement mean to this session, by a catalogue.
    pub fn against<'c>(&'c self, catalog: &'c Catalog) -> Against<'c> {
        Against {
            catalog,
            database: &self.database,
            temporaries: &self.temporaries,
        }
    }

    /// Whether plain reads of a table at READ COMMITTED see versions instead of locking.
    pub fn has_versions(&self, latch: &Latch<'_>, table: &TableDef) -> bool {
        self.home_of(&latch.catalog, table)
            .is_some_and(|d| d.read_committed_snapshot)
    }

    /// The database whose settings govern the reading of a table. The session's own temporary tables
    /// are read as the current database is.
    pub fn home_of<'c>(&self, catalog: &'c Catalog, table: &TableDef) -> Option<&'c Database> {
        let current = catalog.databases.get(&self.database)?;
        if table.database == current.name || is_temporary(&table.name) {
            return Some(current);
        }
        catalog.database(&table.database)
    }

    /// Acts as `identity` again.
    pub fn resume(&mut self, identity: ActingAs) {
        self.sysadmin = identity.sysadmin;
        self.user = identity.user;
    }

    /// Ends every EXECUTE AS beyond the first `depth`, as the end of the module that said so does.
    pub fn revert_to(&mut self, depth: usize) {
        let outermost = self.impersonated.drain(depth..).next();
        if let Some(outermost) = outermost {
            self.resume(outermost);
        }
    }

    /// Keeps what was prepared, on the session's account until it is given up; its handle.
    ///
    /// # Errors
    ///
    /// 701 when the session may not keep as much.
    pub fn prepare(&mut self, prepared: Prepared) -> SqlResult<i32> {
        let mut charge = self.memory.charge();
        charge.add(prepared.bytes())?;
        let handle = self.next_handle;
        self.next_handle += 1;
        self.prepared.insert(handle, (prepared, charge));
        Ok(handle)
    }

    /// Rolls everything back; the descriptor of the transaction if one was open.
    pub fn rollback_all(&mut self) -> Option<u64> {
        let engine = Arc::clone(&self.engine);
        let mut latch = engine.latch();
        let was_open = self.trancount > 0;
        self.trancount = 0;
        self.doomed = false;
        self.savepoints.clear();
        self.transaction_name = None;
        let txn = self.txn.take()?;
        let descriptor = txn.id;
        txn.rollback(&mut latch);
        was_open.then_some(descriptor)
    }

    /// Drops the temporary tables; no transaction may be open.
    pub fn drop_temporaries(&mut self) {
        let ids = self.temporaries.clear();
        if ids.is_empty() {
            return;
        }
        let engine = Arc::clone(&self.engine);
        let mut latch = engine.latch();
        let mut txn = Txn::begin(&mut latch, self.lock_owner());
        for id in ids {
            if let Some(tempdb) = latch.database_mut(TEMPDB)
                && let Some(Object::Table(table)) = tempdb.objects.remove(&id)
            {
                let own = table.schema_id;
                tempdb.objects.retain(|_, o| o.schema_id() != own);
                tempdb.object_names.retain(|(schema, _), _| *schema != own);
            }
            latch.store.drop_table(&mut txn, id);
        }
        txn.commit(&mut latch);
    }

    /// Releases the locks that belong to the session rather than to a transaction.
    pub fn release_session_locks(&mut self) {
        let engine = Arc::clone(&self.engine);
        engine.latch().locks.end_session(self.lock_owner());
    }

    pub fn xact_state(&self) -> i64 {
        match (self.trancount, self.doomed) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }
}
