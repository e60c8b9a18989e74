// Tables and procedures are named with their schema: one plan for every user, and no other schema by accident.
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class TwoPartNameRule : Rule
    {
        public override string Name => "two-part-name";

        readonly HashSet<TSqlFragment> aliases = new HashSet<TSqlFragment>();
        readonly HashSet<string> expressions = new HashSet<string>(StringComparer.OrdinalIgnoreCase);

        protected override void CheckScript()
        {
            aliases.Clear();
            expressions.Clear();
            foreach (var cte in Collector<CommonTableExpression>.In(Script.Tree)) expressions.Add(cte.ExpressionName.Value);
            foreach (var change in Collector<DataModificationSpecification>.In(Script.Tree)) NoteAlias(change);
            base.CheckScript();
        }

        // UPDATE q … FROM [schema].queue AS q: the target is an alias, and the FROM names the table in full.
        void NoteAlias(DataModificationSpecification change)
        {
            var target = change.Target as NamedTableReference;
            if (target == null || target.SchemaObject.Identifiers.Count != 1) return;
            var name = target.SchemaObject.BaseIdentifier.Value;
            if (Collector<TableReferenceWithAlias>.In(change).Any(t => t != target && Tokens.Same(t.Alias?.Value, name)))
                aliases.Add(target);
        }

        public override void Visit(NamedTableReference node)
        {
            var name = node.SchemaObject;
            var local = name.Identifiers.Count == 1 && (aliases.Contains(node) || expressions.Contains(name.BaseIdentifier.Value));
            if (!local) Check(name, "table");
        }

        public override void Visit(ProcedureReference node) => Check(node.Name, "procedure");
        public override void Visit(CreateTableStatement node) => Check(node.SchemaObjectName, "table");
        public override void Visit(AlterTableStatement node) => Check(node.SchemaObjectName, "table");
        public override void Visit(TruncateTableStatement node) => Check(node.TableName, "table");
        public override void Visit(IndexStatement node) => Check(node.OnName, "table");
        public override void Visit(SchemaObjectFunctionTableReference node) => Check(node.SchemaObject, "function");
        public override void Visit(DropTableStatement node) => CheckAll(node.Objects, "table");
        public override void Visit(DropProcedureStatement node) => CheckAll(node.Objects, "procedure");
        public override void Visit(ViewStatementBody node) => Check(node.SchemaObjectName, "view");
        public override void Visit(DropViewStatement node) => CheckAll(node.Objects, "view");
        public override void Visit(DropTypeStatement node) => Check(node.Name, "type");

        public override void Visit(SecurityTargetObject node)
        {
            var objectKind = node.ObjectKind == SecurityObjectKind.NotSpecified || node.ObjectKind == SecurityObjectKind.Object;
            var name = node.ObjectName?.MultiPartIdentifier;
            if (objectKind && name != null && name.Count != 2)
                Found(node, $"the object {Tokens.Flat(name)} is not named with its schema");
        }

        void CheckAll(IEnumerable<SchemaObjectName> names, string what)
        {
            foreach (var name in names) Check(name, what);
        }

        void Check(SchemaObjectName name, string what)
        {
            if (name.BaseIdentifier.Value.StartsWith("#")) return;
            var schema = name.SchemaIdentifier?.Value;
            if (name.Identifiers.Count == 2 && (Tokens.Same(schema, Script.Schema) || Tokens.Same(schema, "sys"))) return;
            Found(name, $"the {what} {Tokens.Join(name)} is not named as [$(schema)].{name.BaseIdentifier.Value}");
        }
    }
}
