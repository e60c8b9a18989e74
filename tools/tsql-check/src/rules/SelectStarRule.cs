// Column lists are explicit: a column added by a later migration must not change a result.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class SelectStarRule : Rule
    {
        public override string Name => "select-star";

        public override void Visit(SelectStarExpression node) => Found(node, "SELECT * is used; list the columns");
    }
}
