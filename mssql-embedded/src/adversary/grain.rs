//! How much a statement locks at a time.

/// What stands for a row in the lock table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grain {
    /// The row or key itself.
    #[default]
    Row,
    /// The page it is on, with its neighbours in the index.
    Page,
    Table,
}
