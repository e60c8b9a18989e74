//! Statements, options, hints and types.

use super::{Group, Kind};

pub(super) const GROUPS: &[Group] = &[
    Group {
        kind: Kind::Statement,
        why: "cursors",
        names: &["OPEN", "CLOSE", "FETCH", "DEALLOCATE"],
    },
    Group {
        kind: Kind::Statement,
        why: "files and media",
        names: &[
            "BACKUP",
            "RESTORE",
            "DUMP",
            "LOAD",
            "BULK INSERT",
            "INSERT BULK",
        ],
    },
    Group {
        kind: Kind::Statement,
        why: "administration",
        names: &[
            "DBCC",
            "RECONFIGURE",
            "SHUTDOWN",
            "UPDATE STATISTICS",
            "SETUSER",
        ],
    },
    Group {
        kind: Kind::Statement,
        why: "text pointers",
        names: &["READTEXT", "WRITETEXT", "UPDATETEXT"],
    },
    Group {
        kind: Kind::Statement,
        why: "not needed so far",
        names: &[
            "MERGE",
            "LINENO",
            "WAITFOR TIME",
            "EXECUTE AS LOGIN",
            "EXECUTE AS CALLER",
        ],
    },
    Group {
        kind: Kind::Statement,
        why: "triggers",
        names: &["DISABLE TRIGGER", "ENABLE TRIGGER"],
    },
    Group {
        kind: Kind::Statement,
        why: "Service Broker",
        names: &[
            "SEND",
            "RECEIVE",
            "MOVE CONVERSATION",
            "GET CONVERSATION",
            "BEGIN DIALOG",
            "BEGIN CONVERSATION",
        ],
    },
    Group {
        kind: Kind::Statement,
        why: "other servers",
        names: &["BEGIN DISTRIBUTED"],
    },
    Group {
        kind: Kind::Statement,
        why: "natively compiled procedures",
        names: &["BEGIN ATOMIC"],
    },
    Group {
        kind: Kind::RowSet,
        why: "other servers",
        names: &["OPENDATASOURCE", "OPENQUERY", "OPENROWSET"],
    },
    Group {
        kind: Kind::RowSet,
        why: "XML documents",
        names: &["OPENXML"],
    },
    Group {
        kind: Kind::RowSet,
        why: "full-text search",
        names: &[
            "CONTAINSTABLE",
            "FREETEXTTABLE",
            "SEMANTICKEYPHRASETABLE",
            "SEMANTICSIMILARITYDETAILSTABLE",
            "SEMANTICSIMILARITYTABLE",
        ],
    },
    Group {
        kind: Kind::RowSet,
        why: "change tracking",
        names: &["CHANGETABLE"],
    },
    Group {
        kind: Kind::SourceClause,
        why: "which rows share a page is a matter of storage",
        names: &["TABLESAMPLE"],
    },
    Group {
        kind: Kind::SourceClause,
        why: "not needed so far",
        names: &["PIVOT", "UNPIVOT"],
    },
    Group {
        kind: Kind::Predicate,
        why: "full-text search",
        names: &["CONTAINS", "FREETEXT"],
    },
    Group {
        kind: Kind::Predicate,
        why: "rowversion columns",
        names: &["TSEQUAL"],
    },
    Group {
        kind: Kind::Predicate,
        why: "triggers",
        names: &["UPDATE"],
    },
    Group {
        kind: Kind::ColumnProperty,
        why: "storage of columns",
        names: &["FILESTREAM", "SPARSE"],
    },
    Group {
        kind: Kind::ColumnProperty,
        why: "encryption and masking",
        names: &["ENCRYPTED", "MASKED"],
    },
    Group {
        kind: Kind::ColumnProperty,
        why: "tables with a history",
        names: &["GENERATED", "HIDDEN"],
    },
    Group {
        kind: Kind::ColumnProperty,
        why: "replication",
        names: &["ROWGUIDCOL"],
    },
    Group {
        kind: Kind::ColumnProperty,
        why: "indexes of documents",
        names: &["FULLTEXT", "XML"],
    },
    Group {
        kind: Kind::Index,
        why: "columnstores and tables in memory",
        names: &["COLUMNSTORE", "HASH"],
    },
    Group {
        kind: Kind::SetOption,
        why: "plans are not observable",
        names: &["SHOWPLAN_ALL", "SHOWPLAN_TEXT", "SHOWPLAN_XML", "FORCEPLAN"],
    },
    Group {
        kind: Kind::SetOption,
        why: "no such figures or limits",
        names: &[
            "STATISTICS PROFILE",
            "STATISTICS XML",
            "QUERY_GOVERNOR_COST_LIMIT",
            "RESULT_SET_CACHING",
        ],
    },
    Group {
        kind: Kind::SetOption,
        why: "other servers and old clients",
        names: &[
            "NO_BROWSETABLE",
            "REMOTE_PROC_TRANSACTIONS",
            "FIPS_FLAGGER",
            "OFFSETS",
        ],
    },
    Group {
        kind: Kind::TableHint,
        why: "which rows share a page is a matter of storage",
        names: &["PAGLOCK"],
    },
    Group {
        kind: Kind::TableHint,
        why: "bulk load",
        names: &[
            "KEEPIDENTITY",
            "KEEPDEFAULTS",
            "IGNORE_CONSTRAINTS",
            "IGNORE_TRIGGERS",
        ],
    },
    Group {
        kind: Kind::TableHint,
        why: "memory-optimized tables",
        names: &["SNAPSHOT"],
    },
    Group {
        kind: Kind::TableHint,
        why: "indexes on views and of space",
        names: &["NOEXPAND", "SPATIAL_WINDOW_MAX_CELLS"],
    },
    Group {
        kind: Kind::Type,
        why: "rowversion columns",
        names: &["rowversion", "timestamp"],
    },
    Group {
        kind: Kind::Type,
        why: "money",
        names: &["money", "smallmoney"],
    },
    Group {
        kind: Kind::Type,
        why: "text pointers",
        names: &["text", "ntext", "image"],
    },
    Group {
        kind: Kind::Type,
        why: "documents and values of any type",
        names: &["xml", "json", "sql_variant", "vector"],
    },
    Group {
        kind: Kind::Type,
        why: "CLR types",
        names: &["hierarchyid", "geometry", "geography"],
    },
    Group {
        kind: Kind::Type,
        why: "cursors",
        names: &["cursor"],
    },
];
