//! What a client asks for while it logs in, or sends with a request.

use super::{Group, Kind};

pub(super) const GROUPS: &[Group] = &[
    Group {
        kind: Kind::Client,
        why: "documents and values of any type",
        names: &[
            "a parameter of type sql_variant",
            "a parameter of type xml",
            "a parameter of type json",
            "a parameter of type vector",
        ],
    },
    Group {
        kind: Kind::Client,
        why: "CLR types",
        names: &["a parameter of a CLR type"],
    },
    Group {
        kind: Kind::Client,
        why: "table types",
        names: &["a table-valued parameter"],
    },
    Group {
        kind: Kind::Client,
        why: "Service Broker",
        names: &["a query notification"],
    },
    Group {
        kind: Kind::Client,
        why: "other servers",
        names: &[
            "a distributed transaction",
            "a login of another server or of replication",
        ],
    },
    Group {
        kind: Kind::Client,
        why: "old clients",
        names: &["a client of another byte order or character set"],
    },
    Group {
        kind: Kind::Client,
        why: "files and media",
        names: &["attaching a database file"],
    },
    Group {
        kind: Kind::Client,
        why: "not needed so far",
        names: &[
            "changing a password while logging in",
            "a user instance",
            "a login for which the server names the token's issuer",
        ],
    },
];
