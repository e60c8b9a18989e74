// Columns of table variables and OPENJSON results exist; the schema compiler binds only those of stored tables.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class LocalBindingRule : ScopedRule
    {
        public override string Name => "local-binding";

        public override void Visit(ColumnReferenceExpression node)
        {
            if (Scopes.Resolve(node, out _, out _) == Resolved.Missing)
                Found(node, $"no row source in scope has a column {Tokens.Flat(node)}");
        }
    }
}
