// Every path that opens a transaction ends it, and no error leaves one open.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class TransactionRule : Rule
    {
        public override string Name => "transaction";

        protected override void CheckScript()
        {
            if (Script.Procedure == null) return;
            new Paths(this, 0).Follow(Script.Procedure);
            // Called inside a transaction, a procedure leaves that one as it was or throws.
            new Paths(this, 1).Follow(Script.Procedure);
        }

        sealed class Paths : FlowAnalysis
        {
            readonly TransactionRule rule;
            readonly int entry;

            public Paths(TransactionRule rule, int entry)
            {
                this.rule = rule;
                this.entry = entry;
            }

            public void Follow(ProcedureStatementBody procedure) => Run(procedure, FlowState.AtEntry(entry));

            protected override void OnExit(TSqlFragment at, FlowState state, Exit exit)
            {
                if (exit == Exit.Throw && state.Depth > entry)
                    rule.Found(at, "THROW on a path that leaves the transaction open; roll back first");
                else if (exit == Exit.Normal && state.Depth > entry)
                    rule.Found(at, "the procedure ends here on a path that leaves its transaction open");
                else if (exit == Exit.Normal && state.Depth < entry)
                    rule.Found(at, "the procedure ends here on a path that ended its caller's transaction");
            }

            protected override void OnCommitWithoutTransaction(TSqlStatement at) =>
                rule.Found(at, "COMMIT on a path with no open transaction");

            protected override void OnRollbackWithoutTransaction(TSqlStatement at) =>
                rule.Found(at, "ROLLBACK on a path with no open transaction; guard it with @@TRANCOUNT > 0");

            protected override void OnUnboundedDepth(TSqlStatement at) =>
                rule.Found(at, "BEGIN TRANSACTION repeats in a loop that does not end it");
        }
    }
}
