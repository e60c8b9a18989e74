// Constraints and indexes carry names we chose, so that errors and upgrades can rely on them; there are no foreign keys.
using System;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class NamedConstraintRule : Rule
    {
        public override string Name => "named-constraint";

        public override void Visit(CreateTableStatement node) => CheckAll(node.Definition);

        public override void Visit(AlterTableAddTableElementStatement node) => CheckAll(node.Definition);

        public override void Visit(CreateIndexStatement node) => Prefix(node.Name, "ix_", "uq_");

        void CheckAll(TableDefinition definition)
        {
            foreach (var constraint in Collector<ConstraintDefinition>.In(definition)) Check(constraint);
            foreach (var index in Collector<IndexDefinition>.In(definition)) Prefix(index.Name, "ix_", "uq_");
        }

        void Check(ConstraintDefinition constraint)
        {
            if (constraint is NullableConstraintDefinition) return;
            if (constraint is ForeignKeyConstraintDefinition)
                Found(constraint, "a foreign key; they cost locks in the other table, so there are none");
            else if (constraint is UniqueConstraintDefinition unique)
                Prefix(constraint, unique.IsPrimaryKey ? "pk_" : "uq_");
            else
                Prefix(constraint, constraint is CheckConstraintDefinition ? "ck_" : "df_");
        }

        void Prefix(ConstraintDefinition constraint, string prefix)
        {
            if (constraint.ConstraintIdentifier == null) Found(constraint, $"the constraint has no name; give it one that begins with {prefix}");
            else Prefix(constraint.ConstraintIdentifier, prefix);
        }

        void Prefix(Identifier name, params string[] prefixes)
        {
            if (!prefixes.Any(p => name.Value.StartsWith(p, StringComparison.Ordinal)))
                Found(name, $"the name {name.Value} does not begin with {string.Join(" or ", prefixes)}");
        }
    }
}
