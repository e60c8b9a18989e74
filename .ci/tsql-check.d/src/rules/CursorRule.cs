// No cursors: every step works on a set.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class CursorRule : Rule
    {
        public override string Name => "cursor";

        public override void Visit(CursorDefinition node) => Found(node, "a cursor is declared; write the step as one statement over a set");
    }
}
