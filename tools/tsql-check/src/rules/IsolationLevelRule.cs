// A procedure that clients call sets the level it was written for: READPAST fails under others (650), and a pooled
// connection keeps the level of its last user. The setting ends with the procedure; helpers run under their caller's.
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class IsolationLevelRule : Rule
    {
        public override string Name => "isolation-level";

        public override void Visit(ProcedureStatementBody node)
        {
            if (Script.ProcedureName.StartsWith("_")) return;
            var statements = node.StatementList.Statements;
            while (statements.Count > 0 && statements[0] is BeginEndBlockStatement block)
                statements = block.StatementList.Statements;
            var first = statements.FirstOrDefault(s => !(s is PredicateSetStatement));
            if ((first as SetTransactionIsolationLevelStatement)?.Level == IsolationLevel.ReadCommitted) return;
            Found(first ?? (TSqlFragment)node, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED does not follow the SET options");
        }
    }
}
