//! Tests of the binder: statements against a small catalogue, judged by the shape of their plans and
//! by the numbers of their errors.

mod definitions;
mod errors;
mod functions;
mod plans;
mod shape;
mod types;

use std::sync::Arc;

use crate::ast::{CreateView, Ddl, FlowStmt, StmtKind, ValueStmt};
use crate::catalog::{Catalog, Database, Home, Object, TableDef, ViewDef};
use crate::error::{SqlError, SqlResult};
use crate::parse::{ParseOptions, parse_batch};
use crate::plan::{Bound, BoundKind, Node, Query};
use crate::value::Collation;

use super::{
    BindContext, TableName, bind_condition, bind_scalars, bind_statement, collect_variables,
    index_from_ast, table_def_from_ast,
};

const SCHEMA: &str = "
CREATE TABLE queue (
    id BIGINT IDENTITY(1,1) NOT NULL CONSTRAINT pk_queue PRIMARY KEY,
    not_before_ms BIGINT NOT NULL,
    instance NVARCHAR(100) COLLATE Latin1_General_100_BIN2 NOT NULL,
    tag NVARCHAR(50) NULL,
    locked BIT NOT NULL DEFAULT 0,
    body NVARCHAR(MAX) NOT NULL DEFAULT N'');
CREATE INDEX ix_ready ON queue (not_before_ms, id);
CREATE INDEX ix_instance ON queue (instance);
CREATE INDEX ix_tagged ON queue (tag, not_before_ms, id) WHERE tag IS NOT NULL;
CREATE TABLE instances (
    id NVARCHAR(100) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY,
    execution INT NOT NULL,
    status VARCHAR(20) NOT NULL CHECK (status IN ('Running', 'Done')),
    parent NVARCHAR(100) COLLATE Latin1_General_100_BIN2 NULL);
CREATE TABLE history (
    instance NVARCHAR(100) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution INT NOT NULL,
    event BIGINT NOT NULL,
    data NVARCHAR(MAX) NOT NULL,
    CONSTRAINT pk_history PRIMARY KEY (instance, execution, event));
CREATE TABLE heap (a INT NULL, b INT NULL, c AS a + 1);
CREATE VIEW running AS SELECT id, execution FROM instances WHERE status = 'Running';
";

/// A catalogue with the tables of [`SCHEMA`].
fn catalog() -> Catalog {
    let mut database = Database::new(5, "db", Collation::SqlLatin1CiAs);
    let mut next = 100;
    for statement in SCHEMA.split(';').filter(|s| !s.trim().is_empty()) {
        let batch = parse_batch(statement, ParseOptions::default()).unwrap();
        for stmt in batch.statements {
            next += 1;
            let StmtKind::Ddl(ddl) = stmt.kind else {
                panic!("not a definition")
            };
            define(&mut database, ddl, next);
        }
    }
    let mut catalog = Catalog::default();
    catalog
        .databases
        .insert("db".to_owned(), Arc::new(database));
    catalog
}

fn define(database: &mut Database, ddl: Ddl, id: i32) {
    let (name, object) = match ddl {
        Ddl::CreateTable {
            name,
            columns,
            constraints,
        } => {
            let name = &name.parts[0].name;
            let at = TableName {
                schema_id: 1,
                schema: "dbo".to_owned(),
                name: name.clone(),
                database: "db".to_owned(),
            };
            let home = Home {
                database,
                default_schema: "dbo",
            };
            let mut table =
                table_def_from_ast(&at, &columns, &constraints, home, &crate::interrupt::never)
                    .unwrap();
            table.id = id;
            (name.clone(), Object::Table(Arc::new(table)))
        }
        Ddl::CreateIndex(index) => {
            let name = index.table.as_ref().unwrap().parts[0].name.clone();
            let mut table = TableDef::clone(&table_of(database, &name));
            index_from_ast(&mut table, &index, database).unwrap();
            (name, Object::Table(Arc::new(table)))
        }
        Ddl::CreateView(CreateView {
            name, query, text, ..
        }) => {
            let view = ViewDef {
                id,
                schema_id: 1,
                name: name.parts[0].name.clone(),
                version: 1,
                columns: Vec::new(),
                query: Arc::new(query),
                text,
                created_ms: 0,
                modified_ms: 0,
            };
            (view.name.clone(), Object::View(Arc::new(view)))
        }
        other => panic!("unexpected definition {other:?}"),
    };
    let id = object.id();
    database.object_names.insert((1, name), id);
    database.objects.insert(id, object);
}

fn table_of(database: &Database, name: &str) -> Arc<TableDef> {
    match database.find_object("dbo", name) {
        Some(Object::Table(table)) => table.clone(),
        _ => panic!("no table {name}"),
    }
}

/// Binds the last statement of a batch; the ones before it declare variables. What the parser
/// refuses already counts as refused.
fn bind(sql: &str) -> SqlResult<Bound> {
    bind_with(sql, true)
}

fn bind_with(sql: &str, quoted_identifier: bool) -> SqlResult<Bound> {
    let catalog = catalog();
    let database = &catalog.databases["db"];
    let batch = parse_batch(sql, ParseOptions::default())?;
    let variables = collect_variables(&[], &batch.statements, database, &crate::interrupt::never)?;
    let ctx = BindContext {
        catalog: &catalog,
        database,
        default_schema: "dbo",
        login: "",
        variables: &variables,
        quoted_identifier,
        temporaries: crate::catalog::TemporaryTables::none(),
        choices: None,
        looked_up: None,
        interrupted: &crate::interrupt::never,
    };
    match &batch.statements.last().expect("there is a statement").kind {
        StmtKind::Flow(FlowStmt::If { condition, .. }) => bind_condition(&ctx, condition),
        StmtKind::Value(ValueStmt::Print(expr)) => bind_scalars(&ctx, &[expr]),
        StmtKind::Table(table) => bind_statement(&ctx, table),
        other => panic!("{other:?} is not bound here"),
    }
}

/// The error that a statement is refused with.
fn refused(sql: &str) -> SqlError {
    match bind(sql) {
        Ok(_) => panic!("{sql} was accepted"),
        Err(e) => e,
    }
}

/// The query of a SELECT, or the one that finds the rows of an UPDATE or DELETE.
fn query(sql: &str) -> Query {
    match bind(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).kind {
        BoundKind::Select(query) => query,
        BoundKind::Assign(assign) => assign.query,
        BoundKind::Update(update) => update.query,
        BoundKind::Delete(delete) => delete.query,
        BoundKind::Insert(insert) => match insert.source {
            crate::plan::Source::Query(query) => query,
            crate::plan::Source::Exec => panic!("{sql} has no query"),
        },
        other => panic!("{sql} is {other:?}"),
    }
}

/// The plan of a statement in the notation of [`shape`].
fn plan(sql: &str) -> String {
    shape::node(&query(sql).root)
}

/// All scans of a plan, nested ones included.
fn scans(node: &Node) -> Vec<&crate::plan::Scan> {
    let mut list = Vec::new();
    if let Node::Scan(scan) = node {
        list.push(scan.as_ref());
    }
    node.inputs()
        .into_iter()
        .for_each(|n| list.extend(scans(n)));
    list
}
