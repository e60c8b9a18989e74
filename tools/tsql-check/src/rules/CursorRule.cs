// No cursors: every step works on a set.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class CursorRule : Rule
    {
        public override string Name => "cursor";

        const string Reason = "a cursor is declared; write the step as one statement over a set";

        public override void Visit(DeclareCursorStatement node) => Found(node, Reason);

        public override void Visit(SetVariableStatement node)
        {
            if (node.CursorDefinition != null) Found(node, Reason);
        }
    }
}
