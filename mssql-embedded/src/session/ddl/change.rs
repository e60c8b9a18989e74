//! Changes to the catalogue that roll back with their transaction.

use std::cell::RefCell;
use std::sync::Arc;

use crate::access::lock_object;
use crate::bind::{BindContext, bind_default, bind_row_rules};
use crate::catalog::{
    Catalog, Database, Home, Object, ObjectId, SecurableId, TableDef, TemporaryTables, elsewhere,
    is_temporary, name_taken, no_database,
};
use crate::error::{SqlError, SqlResult};
use crate::exec::Env;
use crate::interrupt::Asking;
use crate::lock::Mode;
use crate::plan::{RowRules, Scalar, VariableMap};
use crate::value::DataType;

impl Env<'_, '_> {
    pub fn database(&self) -> SqlResult<&Database> {
        self.latch.catalog.current(&self.core.database)
    }

    /// The current database, to be changed.
    pub fn database_mut(&mut self) -> SqlResult<&mut Database> {
        let key = &self.core.database;
        self.latch.database_mut(key).ok_or_else(|| no_database(key))
    }

    pub fn new_object_id(&mut self) -> ObjectId {
        let catalog = self.latch.catalog_mut();
        catalog.next_object_id += 1;
        catalog.next_object_id
    }

    /// Remembers how to take a change of the current database back.
    pub fn undo_with(
        &mut self,
        undo: impl FnOnce(&mut Database) + Send + 'static,
    ) -> SqlResult<()> {
        let name = self.core.database.clone();
        self.access()?.txn.on_rollback(move |state| {
            if let Some(database) = state.database_mut(&name) {
                undo(database);
            }
        });
        Ok(())
    }

    /// Puts an object into the catalogue (new, or in place of an older version) under its
    /// schema-modification lock.
    pub fn put_object(&mut self, object: Object) -> SqlResult<()> {
        let (id, schema) = (object.id(), object.schema_id());
        lock_object(&mut self.access()?, id, Mode::SCH_M, true)?;
        let database = self.database_mut()?;
        let key = (schema, database.fold(object.name()));
        let previous = database.objects.insert(id, object);
        let named = database.object_names.insert(key.clone(), id);
        self.undo_with(move |database| {
            match previous {
                Some(object) => database.objects.insert(id, object),
                None => database.objects.remove(&id),
            };
            match named {
                Some(id) => database.object_names.insert(key, id),
                None => database.object_names.remove(&key),
            };
        })
    }

    /// Takes an object out of the catalogue.
    pub fn remove_object(&mut self, id: ObjectId) -> SqlResult<()> {
        lock_object(&mut self.access()?, id, Mode::SCH_M, true)?;
        let database = self.database_mut()?;
        let Some(object) = database.objects.remove(&id) else {
            return Ok(());
        };
        let key = (object.schema_id(), database.fold(object.name()));
        database.object_names.remove(&key);
        let place = (database.id, key.0, key.1.clone());
        let removed: Vec<_> = database
            .permissions
            .extract_if(.., |p| p.on == SecurableId::Object(id))
            .collect();
        if !is_temporary(object.name()) {
            self.latch.note_dropped(place, id);
        }
        self.undo_with(move |database| {
            database.objects.insert(id, object);
            database.object_names.insert(key, id);
            database.permissions.extend(removed);
        })
    }

    /// Waits until nobody is defining or dropping anything of that name. Whether that took a while, in which others have
    /// had the latch.
    pub fn await_free_name(&mut self, schema: i32, name: &str) -> SqlResult<bool> {
        let name = self.database()?.look_up(schema, name);
        self.await_name(&name)
    }

    /// 2714 when the schema already has something of that name.
    pub fn require_free_name(&self, schema: i32, name: &str) -> SqlResult<()> {
        self.require_free(schema, name, 6)
    }

    /// The same for procedures and views, whose 2714 has another state.
    pub fn require_free_module_name(&self, schema: i32, name: &str) -> SqlResult<()> {
        self.require_free(schema, name, 3)
    }

    fn require_free(&self, schema: i32, name: &str, state: u8) -> SqlResult<()> {
        let database = self.database()?;
        if database
            .object_names
            .contains_key(&(schema, database.fold(name)))
        {
            return Err(name_taken(name, state));
        }
        Ok(())
    }

    /// Where a definition looks names up. In a procedure too that begins with the default schema of the user: only the
    /// names of queries and writes are looked up in the procedure's own.
    pub fn home(&self) -> SqlResult<Home<'_>> {
        Ok(home_in(self.database()?, self.frame.user))
    }

    /// Runs `make` without the latch against the catalogue as it is now, because binding may take
    /// its time. `None` when anything was defined meanwhile: then what was looked up before counts
    /// no more, and all of it is to be done again without letting go of the latch.
    pub fn unlatched<T>(
        &mut self,
        make: impl FnOnce(Home<'_>, Asking<'_>) -> T,
    ) -> SqlResult<Option<T>> {
        let catalog = Arc::clone(&self.latch.catalog);
        self.latch.release();
        let made = self.make_in(&catalog, make)?;
        // While it is kept here a change makes another catalogue of it.
        Ok(Arc::ptr_eq(&catalog, &self.latch.catalog).then_some(made))
    }

    /// Runs `make` against the catalogue as it is, and lets nobody change it meanwhile.
    pub fn latched<T>(&mut self, make: impl FnOnce(Home<'_>, Asking<'_>) -> T) -> SqlResult<T> {
        let catalog = Arc::clone(&self.latch.catalog);
        self.make_in(&catalog, make)
    }

    fn make_in<T>(
        &mut self,
        catalog: &Catalog,
        make: impl FnOnce(Home<'_>, Asking<'_>) -> T,
    ) -> SqlResult<T> {
        let home = home_in(catalog.current(&self.core.database)?, self.frame.user);
        let asked = RefCell::new(&mut *self.interrupted);
        Ok(make(home, &|| (asked.borrow_mut())()))
    }

    /// The schema that a new object goes to: the named one, or the user's default.
    pub fn target_schema(&self, name: &crate::ast::ObjectName) -> SqlResult<(i32, String, String)> {
        let home = self.home()?;
        let Some(places) = home.places(name)? else {
            return Err(elsewhere(name));
        };
        let schema = places.schema;
        let Some(found) = home.database.find_schema(schema) else {
            return Err(SqlError::with(
                2760,
                16,
                1,
                format!(
                    "The specified schema name \"{schema}\" either does not exist or you do not have permission to use it."
                ),
            ));
        };
        Ok((found.id, found.name.clone(), places.object.to_owned()))
    }

    /// Binds rules of tables, in which names mean the same to everybody. The latch is released, because that may take
    /// its time: the tables that the rules are about are under schema-modification locks of this session.
    pub fn bind_rules<T>(
        &mut self,
        bind: impl FnOnce(&BindContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let catalog = Arc::clone(&self.latch.catalog);
        self.latch.release();
        let database = catalog.current(&self.core.database)?;
        let asked = RefCell::new(&mut *self.interrupted);
        bind(&BindContext {
            catalog: &catalog,
            database,
            default_schema: "dbo",
            login: "",
            variables: &VariableMap::default(),
            quoted_identifier: true,
            temporaries: TemporaryTables::none(),
            choices: None,
            looked_up: None,
            interrupted: &|| (asked.borrow_mut())(),
        })
    }

    /// What every row of a table must satisfy.
    pub fn row_rules(&mut self, table: &TableDef) -> SqlResult<Arc<RowRules>> {
        self.bind_rules(|context| bind_row_rules(context, table))
    }

    /// The default of a column, if it has one.
    pub fn default_of(
        &mut self,
        table: &TableDef,
        position: usize,
    ) -> SqlResult<Option<(Scalar, DataType)>> {
        self.bind_rules(|context| bind_default(context, &table.columns[position]))
    }
}

fn home_in(database: &Database, user: i32) -> Home<'_> {
    Home {
        database,
        default_schema: database.default_schema(user),
    }
}
