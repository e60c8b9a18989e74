// No temp tables: a pooled connection is never reset, so they would outlive the call; table variables do not.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class TempTableRule : Rule
    {
        public override string Name => "temp-table";

        public override void Visit(CreateTableStatement node) => Check(node.SchemaObjectName);

        public override void Visit(NamedTableReference node) => Check(node.SchemaObject);

        public override void Visit(SelectStatement node)
        {
            if (node.Into != null) Found(node.Into, "SELECT … INTO creates a table; declare a table variable");
        }

        void Check(SchemaObjectName name)
        {
            if (name.BaseIdentifier.Value.StartsWith("#"))
                Found(name, $"{name.BaseIdentifier.Value} is a temp table; declare a table variable");
        }
    }
}
