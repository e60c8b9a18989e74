// Every procedure opens with SET NOCOUNT, XACT_ABORT ON, whatever the connection's settings are.
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class SetOptionsRule : Rule
    {
        const SetOptions Wanted = SetOptions.NoCount | SetOptions.XactAbort;

        public override string Name => "set-options";

        public override void Visit(ProcedureStatementBody node)
        {
            var statements = node.StatementList.Statements;
            while (statements.Count > 0 && statements[0] is BeginEndBlockStatement block)
                statements = block.StatementList.Statements;
            var opening = statements.TakeWhile(s => s is PredicateSetStatement).Cast<PredicateSetStatement>().Where(s => s.IsOn);
            var set = opening.Aggregate(SetOptions.None, (options, s) => options | s.Options);
            if ((set & Wanted) != Wanted)
                Found(statements.FirstOrDefault() ?? (TSqlFragment)node, "the procedure does not open with SET NOCOUNT, XACT_ABORT ON");
        }
    }
}
