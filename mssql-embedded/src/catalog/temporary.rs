//! Local temporary tables: objects of tempdb that only the session that made them can name, until the
//! procedure or text in which it made them ends.

use std::sync::Arc;

use super::{Catalog, Object, ObjectId, TableDef};

/// The folded name of the database that holds temporary tables.
pub const TEMPDB: &str = "tempdb";

pub fn is_temporary(name: &str) -> bool {
    name.starts_with('#')
}

/// The temporary tables of one session, outermost scope first.
///
/// An entry stays when its table is dropped within a transaction, because rolling back brings the table
/// back; what an entry stands for is therefore looked up in tempdb each time.
#[derive(Clone, Debug, Default)]
pub struct TemporaryTables {
    named: Vec<Entry>,
    /// Everything ever made and not yet known to be gone.
    made: Vec<ObjectId>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    depth: u32,
    id: ObjectId,
}

/// What a context without a session has.
static NONE: TemporaryTables = TemporaryTables {
    named: Vec::new(),
    made: Vec::new(),
};

impl TemporaryTables {
    /// For what is bound outside a session.
    pub fn none() -> &'static Self {
        &NONE
    }

    /// The table that a name means: the one of the innermost scope.
    pub fn find<'c>(&self, catalog: &'c Catalog, name: &str) -> Option<&'c Object> {
        let tempdb = catalog.databases.get(TEMPDB)?;
        let folded = tempdb.fold(name);
        let mut entries = self.named.iter().rev().filter(|e| e.name == folded);
        entries.find_map(|e| tempdb.objects.get(&e.id))
    }

    /// Whether the scope at `depth` itself has a table of this name.
    pub fn has(&self, catalog: &Catalog, name: &str, depth: u32) -> bool {
        catalog.databases.get(TEMPDB).is_some_and(|tempdb| {
            let folded = tempdb.fold(name);
            let own = |e: &&Entry| e.depth == depth && e.name == folded;
            let mut entries = self.named.iter().filter(own);
            entries.any(|e| tempdb.objects.contains_key(&e.id))
        })
    }

    /// The table of this id, if its name means it at present.
    pub fn visible<'c>(&self, catalog: &'c Catalog, id: ObjectId) -> Option<&'c Arc<TableDef>> {
        let entry = self.named.iter().find(|e| e.id == id)?;
        let found = self.find(catalog, &entry.name)?.as_table();
        found.filter(|table| table.id == id)
    }

    /// Notes a new table of the scope at `depth`.
    pub fn add(&mut self, folded_name: String, depth: u32, id: ObjectId) {
        self.named.push(Entry {
            name: folded_name,
            depth,
            id,
        });
        self.made.push(id);
    }

    /// Forgets the names of the scopes from `depth` inwards; the tables to drop.
    pub fn leave(&mut self, depth: u32) -> Vec<ObjectId> {
        if self.named.last().is_none_or(|e| e.depth < depth) {
            return Vec::new();
        }
        let gone = self.named.extract_if(.., |e| e.depth >= depth);
        gone.map(|e| e.id).collect()
    }

    /// Tables that no rollback can bring back.
    pub fn forget(&mut self, gone: &[ObjectId]) {
        self.made.retain(|id| !gone.contains(id));
    }

    /// Forgets everything; what may still have to be dropped.
    pub fn clear(&mut self) -> Vec<ObjectId> {
        self.named.clear();
        std::mem::take(&mut self.made)
    }
}
