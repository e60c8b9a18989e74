//! The system views and their columns.

use crate::plan::SystemView;

/// Every system view, in the order of their names.
const VIEWS: &[SystemView] = &[];

/// The system view of a lower-case two-part name such as `sys.tables`.
pub fn system_view(name: &str) -> Option<&'static SystemView> {
    VIEWS.iter().find(|v| v.name == name)
}
