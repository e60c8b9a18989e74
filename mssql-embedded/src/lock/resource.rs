//! What can be locked.

use std::fmt;
use std::sync::Arc;

use crate::catalog::ObjectId;

/// A key whose byte order is the order of the index.
pub type Key = Arc<[u8]>;

/// The session that owns a lock; its @@SPID.
pub type LockOwner = u32;

/// What a lock is on; sys.dm_tran_locks makes resource_type and resource_description of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A table, or another object of the catalogue.
    Object(ObjectId),
    /// A key of an index. In a unique index these are the key columns, otherwise the row's locator
    /// follows them.
    Key {
        /// object_id, which no two databases share.
        table: ObjectId,
        /// sys.indexes.index_id.
        index: i32,
        /// Its columns as bytes in the order of the index.
        key: Key,
    },
    /// The gap behind the last key of an index.
    KeyEnd {
        /// object_id of the table whose last gap it is.
        table: ObjectId,
        /// sys.indexes.index_id.
        index: i32,
    },
    /// A row of a heap.
    Row {
        /// object_id of the heap.
        table: ObjectId,
        /// The row's locator, as the nonclustered indexes hold it.
        key: Key,
    },
    /// A page of an index: neighbouring keys.
    Page {
        /// object_id of the table whose neighbours they are.
        table: ObjectId,
        /// sys.indexes.index_id.
        index: i32,
        /// What the keys of the page have in common.
        page: Key,
    },
    /// A transaction, which stands for all rows it has written (optimized locking).
    Transaction(u64),
    /// A name locked by sp_getapplock.
    Application {
        /// database_id: each database has its own names.
        database: i32,
        /// The database principal that may use the lock.
        principal: i32,
        /// The name, compared by code unit.
        name: Arc<[u16]>,
    },
}

impl Resource {
    /// The table whose row or key this is.
    pub fn row_of(&self) -> Option<ObjectId> {
        self.place().map(|(table, _)| table)
    }

    /// The table and the index_id of a row or key; a heap is 0.
    pub fn place(&self) -> Option<(ObjectId, i32)> {
        match self {
            Self::Key { table, index, .. } | Self::KeyEnd { table, index } => {
                Some((*table, *index))
            }
            Self::Row { table, .. } => Some((*table, 0)),
            Self::Object(_)
            | Self::Page { .. }
            | Self::Transaction(_)
            | Self::Application { .. } => None,
        }
    }

    /// The object that is locked, or whose row, key or page this is.
    pub fn object(&self) -> Option<ObjectId> {
        match self {
            Self::Object(id) => Some(*id),
            Self::Page { table, .. } => Some(*table),
            Self::Key { .. } | Self::KeyEnd { .. } | Self::Row { .. } => self.row_of(),
            Self::Transaction(_) | Self::Application { .. } => None,
        }
    }

    /// The page that a key or row lies on. Pages are parts of the key space, so that a page never
    /// splits under a lock: half of a key's bytes, which neighbours share.
    pub fn page(&self) -> Option<Self> {
        let (table, index) = self.place()?;
        let (Self::Key { key, .. } | Self::Row { key, .. }) = self else {
            return None;
        };
        Some(Self::Page {
            table,
            index,
            page: key[..key.len() / 2].into(),
        })
    }

    /// resource_type of sys.dm_tran_locks.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Object(_) => "OBJECT",
            Self::Key { .. } | Self::KeyEnd { .. } => "KEY",
            Self::Row { .. } => "RID",
            Self::Page { .. } => "PAGE",
            Self::Transaction(_) => "XACT",
            Self::Application { .. } => "APPLICATION",
        }
    }
}

impl fmt::Display for Resource {
    /// resource_description of sys.dm_tran_locks; keys show as a hash, as they do there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(_) => Ok(()),
            Self::Key { key, .. } => {
                let hash = key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
                    (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3)
                });
                write!(f, "({:012x})", hash & 0xFFFF_FFFF_FFFF)
            }
            Self::KeyEnd { .. } => f.write_str("(ffffffffffff)"),
            Self::Page { index, page, .. } => {
                let number = page
                    .iter()
                    .fold(0_u32, |n, b| n.rotate_left(5) ^ u32::from(*b));
                write!(f, "{index}:{number}")
            }
            Self::Transaction(id) => write!(f, "{id}"),
            Self::Row { key, .. } => {
                let row = key.iter().fold(0_u64, |n, b| (n << 8) | u64::from(*b));
                write!(f, "1:{}:{}", row >> 8, row & 0xFF)
            }
            Self::Application {
                principal, name, ..
            } => {
                let shown: Vec<u16> = name.iter().take(32).copied().collect();
                write!(f, "{principal}:[{}]", String::from_utf16_lossy(&shown))
            }
        }
    }
}
