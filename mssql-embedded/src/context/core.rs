//! The state of one session that outlives its requests.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use crate::access::Latch;
use crate::adversary::Choices;
use crate::ast::{IsolationLevel, ObjectName};
use crate::catalog::{
    Catalog, Database, Object, ObjectId, TEMPDB, TableDef, TemporaryTables, is_temporary,
};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult};
use crate::fast_map::FastMap;
use crate::lock::LockOwner;
use crate::memory::{Charge, Memory};
use crate::plan::Against;
use crate::storage::{Mark, Txn};
use crate::value::Value;

use super::random::Random;

/// How many names of procedures a session remembers.
const NAMES_KEPT: usize = 256;

/// SET options.
#[derive(Clone, Debug)]
pub struct Settings {
    /// NOCOUNT.
    pub nocount: bool,
    /// NOEXEC: statements are compiled and not executed, until it is switched off.
    pub noexec: bool,
    /// XACT_ABORT.
    pub xact_abort: bool,
    /// QUOTED_IDENTIFIER.
    pub quoted_identifier: bool,
    /// ANSI_NULLS.
    pub ansi_nulls: bool,
    /// ANSI_WARNINGS.
    pub ansi_warnings: bool,
    /// ANSI_PADDING.
    pub ansi_padding: bool,
    /// ARITHABORT.
    pub arithabort: bool,
    /// CONCAT_NULL_YIELDS_NULL.
    pub concat_null_yields_null: bool,
    /// IMPLICIT_TRANSACTIONS.
    pub implicit_transactions: bool,
    /// LOCK_TIMEOUT in milliseconds; without one a session waits for ever.
    pub lock_timeout_ms: Option<u64>,
    /// DEADLOCK_PRIORITY.
    pub deadlock_priority: i32,
    /// TRANSACTION ISOLATION LEVEL.
    pub isolation: IsolationLevel,
    /// The table with IDENTITY_INSERT ON.
    pub identity_insert: Option<ObjectId>,
    /// DATEFIRST.
    pub datefirst: u8,
    /// ROWCOUNT: how many rows a statement returns or changes at most.
    pub rowcount_limit: Option<NonZeroU64>,
    /// TEXTSIZE, as @@TEXTSIZE shows it: nothing is ever cut.
    pub textsize: i64,
    /// LANGUAGE.
    pub language: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            nocount: false,
            noexec: false,
            xact_abort: false,
            quoted_identifier: true,
            ansi_nulls: true,
            ansi_warnings: true,
            ansi_padding: true,
            arithabort: true,
            concat_null_yields_null: true,
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
    /// @@OPTIONS.
    pub fn option_bits(&self) -> i64 {
        let bits = [
            (self.implicit_transactions, 2),
            (self.ansi_warnings, 8),
            (self.ansi_padding, 16),
            (self.ansi_nulls, 32),
            (self.arithabort, 64),
            (self.quoted_identifier, 256),
            (self.nocount, 512),
            (true, 1024),
            (self.concat_null_yields_null, 4096),
            (self.xact_abort, 16384),
        ];
        bits.iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum()
    }

    /// An option by the name that SESSIONPROPERTY gives it.
    pub fn option(&self, name: &str) -> Option<bool> {
        Some(match name {
            "ANSI_NULLS" => self.ansi_nulls,
            "ANSI_PADDING" => self.ansi_padding,
            "ANSI_WARNINGS" => self.ansi_warnings,
            "ARITHABORT" => self.arithabort,
            "CONCAT_NULL_YIELDS_NULL" => self.concat_null_yields_null,
            "NUMERIC_ROUNDABORT" => false,
            "QUOTED_IDENTIFIER" => self.quoted_identifier,
            _ => return None,
        })
    }

    /// How long a lock request may wait.
    pub fn lock_timeout(&self) -> Option<Duration> {
        self.lock_timeout_ms.map(Duration::from_millis)
    }
}

/// Whom a session acts as.
#[derive(Clone, Copy, Debug)]
pub struct ActingAs {
    /// Whether the login is a sysadmin.
    pub sysadmin: bool,
    /// The database user.
    pub user: i32,
}

/// What the session is, apart from its connection.
pub struct Core {
    pub engine: Arc<Engine>,
    /// @@SPID.
    pub spid: u16,
    pub login: String,
    /// Whether the login is a sysadmin.
    pub sysadmin: bool,
    /// The database user.
    pub user: i32,
    /// Who the session was before each EXECUTE AS in force, innermost last.
    pub impersonated: Vec<ActingAs>,
    /// The current database, folded.
    pub database: String,
    /// APP_NAME().
    pub app_name: String,
    /// HOST_NAME().
    pub host_name: String,
    /// SET options.
    pub settings: Settings,
    /// What it may hold in memory, and holds.
    pub memory: Arc<Memory>,
    /// The open transaction: the user's, or that of the running statement.
    pub txn: Option<Txn>,
    /// @@TRANCOUNT.
    pub trancount: u32,
    /// Whether the transaction can only be rolled back: XACT_STATE() = -1.
    pub doomed: bool,
    /// SAVE TRAN marks.
    pub savepoints: Vec<(String, Mark)>,
    /// The name given to the outermost BEGIN TRAN.
    pub transaction_name: Option<String>,
    /// @@ROWCOUNT.
    pub rowcount: i64,
    /// @@ERROR.
    pub error: i32,
    /// @@IDENTITY.
    pub identity: Value,
    /// The errors that the CATCH blocks being run have caught, innermost last.
    pub caught: Vec<SqlError>,
    /// How many procedures are active: @@NESTLEVEL.
    pub nest_level: u32,
    /// How many TRY blocks are active in all frames.
    pub try_depth: u32,
    /// NEWID and RAND.
    pub random: Random,
    /// Messages that the running definition wants shown (severity 10), such as 1945.
    pub notices: Vec<SqlError>,
    /// CONTEXT_INFO(), 128 bytes once it has been set.
    pub context_info: Option<Arc<[u8]>>,
    /// What the adversary decides for the running statement, if there is one.
    pub choices: Option<Choices>,
    /// How many statements it has begun, with an adversary.
    pub statements: u64,
    /// Its temporary tables.
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
    /// A procedure.
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

    /// The owner of this session's locks.
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

    /// Whether plain reads of a table see versions instead of locking.
    pub fn reads_versions(&self, latch: &Latch<'_>, table: &TableDef) -> bool {
        self.settings.isolation == IsolationLevel::ReadCommitted
            && self
                .home_of(&latch.catalog, table)
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

    /// XACT_STATE().
    pub fn xact_state(&self) -> i64 {
        match (self.trancount, self.doomed) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }
}
