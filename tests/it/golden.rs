//! The catalogue of a fresh installation, kept as a file that is reviewed like code.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::database::{TestSchema, connect};

/// Tables with their columns, their lock escalation, then indexes, the parameters of procedures, and
/// who may read or execute what.
const CATALOGUE: [&str; 5] = [
    "SELECT CONCAT(t.name, N'.', c.name, N' ', ty.name, N'(', c.max_length, N') ',
            CASE WHEN c.is_nullable = 1 THEN N'NULL' ELSE N'NOT NULL' END,
            CASE WHEN c.is_identity = 1 THEN N' IDENTITY' ELSE N'' END,
            CASE WHEN c.collation_name = N'Latin1_General_100_BIN2' THEN N' BIN2' ELSE N'' END)
            AS line
     FROM   sys.tables AS t
     JOIN   sys.columns AS c ON c.object_id = t.object_id
     JOIN   sys.types AS ty ON ty.user_type_id = c.user_type_id
     WHERE  t.schema_id = SCHEMA_ID(N'$(name)')
     ORDER BY t.name, c.column_id;",
    "SELECT CONCAT(t.name, N' lock escalation ', LOWER(t.lock_escalation_desc)) AS line
     FROM   sys.tables AS t
     WHERE  t.schema_id = SCHEMA_ID(N'$(name)')
     ORDER BY t.name;",
    "SELECT CONCAT(t.name, N' ', i.name, N' ', LOWER(i.type_desc),
            CASE WHEN i.is_unique = 1 THEN N' unique' ELSE N'' END, N' ', ic.key_ordinal, N' ', c.name)
            AS line
     FROM   sys.tables AS t
     JOIN   sys.indexes AS i ON i.object_id = t.object_id
     JOIN   sys.index_columns AS ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id
     JOIN   sys.columns AS c ON c.object_id = ic.object_id AND c.column_id = ic.column_id
     WHERE  t.schema_id = SCHEMA_ID(N'$(name)')
     ORDER BY t.name, i.name, ic.is_included_column, ic.key_ordinal, c.name;",
    "SELECT CONCAT(p.name, N' ', a.name, N' ', ty.name, N'(', a.max_length, N')',
            CASE WHEN a.is_output = 1 THEN N' OUTPUT' ELSE N'' END) AS line
     FROM   sys.procedures AS p
     JOIN   sys.parameters AS a ON a.object_id = p.object_id
     JOIN   sys.types AS ty ON ty.user_type_id = a.user_type_id
     WHERE  p.schema_id = SCHEMA_ID(N'$(name)')
     ORDER BY p.name, a.parameter_id;",
    "SELECT CONCAT(REPLACE(g.name, N'$(name)', N''), N' ', p.permission_name, N' ', o.name) COLLATE Latin1_General_100_BIN2
            AS line
     FROM   sys.database_permissions AS p
     JOIN   sys.objects AS o ON o.object_id = p.major_id
     JOIN   sys.database_principals AS g ON g.principal_id = p.grantee_principal_id
     WHERE  p.class = 1 AND o.schema_id = SCHEMA_ID(N'$(name)')
     ORDER BY line;",
];

/// The columns of every view, as a client is told of them.
async fn views(schema: &TestSchema) -> String {
    let names = schema
        .sql(&format!(
            "SELECT v.name FROM sys.views AS v WHERE v.schema_id = SCHEMA_ID(N'{}') ORDER BY v.name;",
            schema.name().literal()
        ))
        .await;
    let mut client = connect(schema.url()).await;
    let mut found = String::new();
    for row in names {
        let view: &str = row.get("name").expect("a name");
        let query = format!("SELECT TOP (0) * FROM {}.[{view}];", schema.name().quoted());
        let mut stream = client.simple_query(query).await.expect("the view is read");
        let columns = stream.columns().await.expect("the view has columns");
        for column in columns.expect("the view has columns") {
            let _ = writeln!(found, "{view}.{} {:?}", column.name(), column.column_type());
        }
    }
    found
}

/// Run with `UPDATE_GOLDEN=1` to write the file anew, and review the difference.
#[tokio::test]
async fn catalogue_of_a_fresh_installation_is_the_golden_one() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut found = String::new();
    for query in CATALOGUE {
        for row in schema
            .sql(&query.replace("$(name)", &schema.name().literal()))
            .await
        {
            let line: &str = row.get("line").expect("a line");
            let _ = writeln!(found, "{line}");
        }
        found.push('\n');
    }
    found.push_str(&views(&schema).await);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/schema.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(&path, &found).expect("the file is written");
    }
    let golden = std::fs::read_to_string(&path).expect("tests/it/golden/schema.txt");
    assert!(golden == found, "the catalogue differs; found:\n{found}");
}
