// Gathers what the migrations define, in the order in which they run.
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class Definitions : TSqlFragmentVisitor
    {
        readonly Report report;
        Script script;

        public readonly List<Definition> All = new List<Definition>();

        public Definitions(Repository repository, Report report)
        {
            this.report = report;
            var ordered = repository.Migrations.Where(s => s.Tree != null)
                .OrderBy(s => s.Kind == ScriptKind.Tables ? 0 : s.Kind == ScriptKind.Procedure || s.Kind == ScriptKind.View ? 1 : 2);
            foreach (var next in ordered)
            {
                script = next;
                next.Tree.Accept(this);
            }
        }

        void Take(TSqlStatement statement) => All.Add(new Definition(script, statement, script.Line(statement)));

        public override void Visit(CreateTableStatement node) => Take(node);
        public override void Visit(CreateIndexStatement node) => Take(node);
        // Not descended into: a table created inside a procedure is no part of the schema.
        public override void ExplicitVisit(CreateProcedureStatement node) => Take(node);
        public override void ExplicitVisit(CreateOrAlterProcedureStatement node) => Take(node);
        public override void Visit(CreateViewStatement node) => Take(node);
        public override void Visit(CreateOrAlterViewStatement node) => Take(node);
        public override void Visit(CreateRoleStatement node) => Take(node);
        public override void Visit(SecurityStatement node) => Take(node);
        public override void Visit(CreateSchemaStatement node) => Take(node);
        public override void Visit(CreateTypeStatement node) => Take(node);
        public override void Visit(CreateSequenceStatement node) => Take(node);

        public override void Visit(ExecuteStatement node)
        {
            var schema = SchemaCreation.In(node);
            if (schema != null) All.Add(new Definition(script, schema, script.Line(node)));
        }

        // The model knows tables only as they end up, so an added column becomes part of its CREATE TABLE.
        public override void Visit(AlterTableAddTableElementStatement node)
        {
            var name = Tokens.Join(node.SchemaObjectName);
            var table = All.FirstOrDefault(d => d.Statement is CreateTableStatement t && Tokens.Same(Tokens.Join(t.SchemaObjectName), name));
            if (table == null)
            {
                report.Add(script.File, script.Line(node), ModelCheck.Rule, $"no earlier migration creates the altered table {name}");
                return;
            }
            foreach (var column in node.Definition.ColumnDefinitions) table.Additions.Add(Tokens.Flat(column));
            foreach (var constraint in node.Definition.TableConstraints) table.Additions.Add(Tokens.Flat(constraint));
            foreach (var index in node.Definition.Indexes) table.Additions.Add(Tokens.Flat(index));
        }

        public override void Visit(AlterTableStatement node)
        {
            // SET options (LOCK_ESCALATION) change no name or type.
            if (node is AlterTableAddTableElementStatement || node is AlterTableSetStatement || script.Kind != ScriptKind.Tables) return;
            report.Add(script.File, script.Line(node), ModelCheck.Rule,
                "the check follows only ALTER TABLE … ADD and SET; teach Definitions.cs this form before using it");
        }
    }
}
