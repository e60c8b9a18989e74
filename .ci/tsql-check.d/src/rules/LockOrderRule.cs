// Inside a transaction tables are touched in the one order of LockOrder.cs, or the header's Order line says why not.
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class LockOrderRule : Rule
    {
        public override string Name => "lock-order";

        protected override void CheckScript()
        {
            if (Script.Procedure == null) return;
            var header = Header.Of(Script);
            var paths = new Paths(this, excused: header["Order"] != null);
            paths.Follow(Script.Procedure, Script.IsHelper ? 1 : 0);
            if (header["Order"] != null && !paths.Departs)
                FoundAt(header.LineOf("Order", 1), "Order excuses a departure from the lock order, but there is none");
            foreach (var table in Access.Of(Script.Procedure).Touched.Where(t => LockOrder.Place(t) < 0))
                if (paths.Transactional.Contains(table))
                    FoundAt(Script.Line(Script.Procedure), $"the table {table} has no place in the lock order");
        }

        sealed class Paths : FlowAnalysis
        {
            readonly LockOrderRule rule;
            readonly bool excused;

            public bool Departs { get; private set; }
            public readonly System.Collections.Generic.HashSet<string> Transactional =
                new System.Collections.Generic.HashSet<string>(System.StringComparer.OrdinalIgnoreCase);

            public Paths(LockOrderRule rule, bool excused)
            {
                this.rule = rule;
                this.excused = excused;
            }

            public void Follow(ProcedureStatementBody procedure, int entry) => Run(procedure, entry);

            protected override void OnExit(TSqlFragment at, FlowState state, Exit exit) { }

            // One statement's tables are locked in an order the optimiser chooses, so they are compared with earlier statements only.
            protected override FlowState OnAccess(TSqlFragment access, FlowState state)
            {
                if (state.Depth == 0) return state;
                var touched = Access.WithCallees(access, rule.Repository).Touched;
                Transactional.UnionWith(touched);
                var added = LockOrder.Bits(touched) & ~state.Touched;
                if (added != 0 && state.Touched != 0 && LockOrder.First(added) < LockOrder.Last(state.Touched))
                {
                    Departs = true;
                    var late = LockOrder.Tables[LockOrder.First(added)];
                    var early = LockOrder.Tables[LockOrder.Last(state.Touched)];
                    if (!excused) rule.Found(access, $"{late} is touched after {early}; keep the lock order, or give the reason on an Order line of the header");
                }
                return new FlowState(state.Depth, state.Touched | added);
            }
        }
    }
}
