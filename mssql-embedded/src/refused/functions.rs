//! Functions and `@@` names.

use super::{Group, Kind};

pub(super) const GROUPS: &[Group] = &[
    Group {
        kind: Kind::Function,
        why: "cursors",
        names: &["@@CURSOR_ROWS", "@@FETCH_STATUS", "CURSOR_STATUS"],
    },
    Group {
        kind: Kind::Function,
        why: "rowversion columns",
        names: &["@@DBTS", "MIN_ACTIVE_ROWVERSION"],
    },
    Group {
        kind: Kind::Function,
        why: "figures about the server's machine and network",
        names: &[
            "@@CONNECTIONS",
            "@@CPU_BUSY",
            "@@IDLE",
            "@@IO_BUSY",
            "@@MAX_CONNECTIONS",
            "@@PACKET_ERRORS",
            "@@PACK_RECEIVED",
            "@@PACK_SENT",
            "@@TIMETICKS",
            "@@TOTAL_ERRORS",
            "@@TOTAL_READ",
            "@@TOTAL_WRITE",
        ],
    },
    Group {
        kind: Kind::Function,
        why: "other servers",
        names: &["@@REMSERVER", "PUBLISHINGSERVERNAME"],
    },
    Group {
        kind: Kind::Function,
        why: "languages and cultures",
        names: &["@@LANGID", "FORMAT", "PARSE", "TRY_PARSE"],
    },
    Group {
        kind: Kind::Function,
        why: "compression and encryption",
        names: &[
            "COMPRESS",
            "CRYPT_GEN_RANDOM",
            "DECOMPRESS",
            "DECRYPTBYKEY",
            "ENCRYPTBYKEY",
            "PWDCOMPARE",
            "PWDENCRYPT",
        ],
    },
    Group {
        kind: Kind::Function,
        why: "files and full-text search",
        names: &[
            "FILEGROUP_ID",
            "FILEGROUP_NAME",
            "FILE_ID",
            "FILE_NAME",
            "FULLTEXTSERVICEPROPERTY",
            "GET_FILESTREAM_TRANSACTION_CONTEXT",
        ],
    },
    Group {
        kind: Kind::Function,
        why: "newer than SQL Server 2019",
        names: &[
            "BIT_COUNT",
            "DATETRUNC",
            "DATE_BUCKET",
            "GENERATE_SERIES",
            "GREATEST",
            "JSON_ARRAY",
            "JSON_ARRAYAGG",
            "JSON_OBJECT",
            "JSON_OBJECTAGG",
            "JSON_PATH_EXISTS",
            "LEAST",
        ],
    },
    Group {
        kind: Kind::Function,
        why: "triggers",
        names: &["COLUMNS_UPDATED", "TRIGGER_NESTLEVEL"],
    },
    Group {
        kind: Kind::Function,
        why: "text pointers",
        names: &["TEXTPTR", "TEXTVALID"],
    },
    Group {
        kind: Kind::Function,
        why: "values of type sql_variant",
        names: &[
            "CONNECTIONPROPERTY",
            "SESSION_CONTEXT",
            "SQL_VARIANT_PROPERTY",
        ],
    },
    Group {
        kind: Kind::Function,
        why: "not needed so far",
        names: &[
            "APPROX_COUNT_DISTINCT",
            "BINARY_CHECKSUM",
            "CHECKSUM_AGG",
            "CURRENT_TIMEZONE",
            "INDEX_COL",
            "NEWSEQUENTIALID",
            "ORIGINAL_DB_NAME",
            "PERCENTILE_CONT",
            "PERCENTILE_DISC",
            "STATS_DATE",
            "TYPEPROPERTY",
        ],
    },
];
