//! Clauses, forms of expressions, and query hints.

use super::{Group, Kind};

pub(super) const GROUPS: &[Group] = &[
    Group {
        kind: Kind::Clause,
        why: "cursors",
        names: &["CURSOR", "WHERE CURRENT OF"],
    },
    Group {
        kind: Kind::Clause,
        why: "replication",
        names: &["NOT FOR REPLICATION", "FOR REPLICATION"],
    },
    Group {
        kind: Kind::Clause,
        why: "CLR types and documents",
        names: &[
            "a method call on a variable",
            "a method call on a value",
            "a method call in UPDATE",
            "a static method call",
            "EXTERNAL NAME",
            "FOR XML",
            "WITH XMLNAMESPACES",
            "a typed XML or spatial type",
        ],
    },
    Group {
        kind: Kind::Clause,
        why: "other servers",
        names: &[
            "REMOTE JOIN",
            "EXECUTE … AT",
            "EXECUTE of text with parameters",
        ],
    },
    Group {
        kind: Kind::Clause,
        why: "old clients",
        names: &[
            "FOR BROWSE",
            "COMPUTE",
            "GROUP BY ALL",
            "a numbered procedure",
            "an ODBC escape sequence",
            "the :: function prefix",
            "ALL permissions",
        ],
    },
    Group {
        kind: Kind::Clause,
        why: "change tracking",
        names: &["WITH CHANGE_TRACKING_CONTEXT"],
    },
    Group {
        kind: Kind::Clause,
        why: "tables with a history",
        names: &["PERIOD FOR SYSTEM_TIME", "FOR SYSTEM_TIME", "DROP PERIOD"],
    },
    Group {
        kind: Kind::Clause,
        why: "graphs",
        names: &["FOR PATH"],
    },
    Group {
        kind: Kind::Clause,
        why: "sequences",
        names: &["NEXT VALUE FOR"],
    },
    Group {
        kind: Kind::Clause,
        why: "who may pass a permission on",
        names: &["WITH GRANT OPTION", "REVOKE GRANT OPTION FOR"],
    },
    Group {
        kind: Kind::Clause,
        why: "columns have no permissions of their own",
        names: &["column permissions"],
    },
    Group {
        kind: Kind::Clause,
        why: "newer than SQL Server 2019",
        names: &[
            "IS DISTINCT FROM",
            "IGNORE NULLS and RESPECT NULLS",
            "TRIM with LEADING, TRAILING or BOTH",
            "a named WINDOW",
        ],
    },
    Group {
        kind: Kind::Clause,
        why: "not needed so far",
        names: &[
            "WITH RESULT SETS",
            "WITH CHECK OPTION",
            "WITH NOCHECK",
            "IDENTITY() in SELECT INTO",
            "IDENTITYCOL",
            "a data change as a table source",
            "a second OUTPUT clause",
            "EXECUTE AS … WITH NO REVERT or COOKIE",
            "REVERT WITH COOKIE",
            "EXECUTE … AS USER or LOGIN",
            "GRANT, DENY or REVOKE … AS",
            "KILL … WITH STATUSONLY",
            "FOR JSON AUTO",
            "a global temporary object",
            "a temporary procedure",
        ],
    },
    Group {
        kind: Kind::Clause,
        why: "Service Broker",
        names: &["WAITFOR (RECEIVE)"],
    },
    Group {
        kind: Kind::Clause,
        why: "files and media",
        names: &["BEGIN TRANSACTION WITH MARK"],
    },
    Group {
        kind: Kind::Clause,
        why: "partitions",
        names: &["TRUNCATE TABLE … WITH (PARTITIONS)"],
    },
    Group {
        kind: Kind::Clause,
        why: "natively compiled procedures",
        names: &["NOT NULL on a procedure parameter"],
    },
    Group {
        kind: Kind::QueryHint,
        why: "plans are not observable",
        names: &[
            "USE HINT",
            "USE PLAN",
            "QUERYTRACEON",
            "TABLE HINT",
            "PARAMETERIZATION",
            "EXPAND VIEWS",
            "IGNORE_NONCLUSTERED_COLUMNSTORE_INDEX",
        ],
    },
    Group {
        kind: Kind::QueryHint,
        why: "memory is limited by session",
        names: &["MAX_GRANT_PERCENT", "MIN_GRANT_PERCENT"],
    },
    Group {
        kind: Kind::QueryHint,
        why: "other servers",
        names: &[
            "DISABLE EXTERNALPUSHDOWN",
            "FORCE EXTERNALPUSHDOWN",
            "DISABLE SCALEOUTEXECUTION",
            "FORCE SCALEOUTEXECUTION",
        ],
    },
];
