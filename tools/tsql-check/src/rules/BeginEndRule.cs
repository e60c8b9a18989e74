// Every IF, ELSE and WHILE has a block, so that a statement added later lands inside it.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class BeginEndRule : Rule
    {
        public override string Name => "begin-end";

        public override void Visit(IfStatement node)
        {
            if (!(node.ThenStatement is BeginEndBlockStatement)) Found(node.ThenStatement, "IF without BEGIN … END");
            var chained = node.ElseStatement == null || node.ElseStatement is IfStatement;
            if (!chained && !(node.ElseStatement is BeginEndBlockStatement)) Found(node.ElseStatement, "ELSE without BEGIN … END");
        }

        public override void Visit(WhileStatement node)
        {
            if (!(node.Statement is BeginEndBlockStatement)) Found(node.Statement, "WHILE without BEGIN … END");
        }
    }
}
