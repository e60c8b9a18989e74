// Follows every path through a procedure and keeps the set of states each point can be reached in.
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    /// <summary>
    /// Subclasses say what to make of transactions, exits and touched tables. Any statement inside TRY may fail,
    /// so CATCH is entered with the state before each of them.
    /// </summary>
    abstract class FlowAnalysis
    {
        // Deeper nesting than this means a loop that opens more than it closes.
        const int DepthMax = 4;

        HashSet<string> flags;
        HashSet<FlowState> caught;
        HashSet<FlowState> breaks = new HashSet<FlowState>();
        HashSet<FlowState> continues = new HashSet<FlowState>();

        protected abstract void OnExit(TSqlFragment at, FlowState state, Exit exit);

        protected virtual void OnCommitWithoutTransaction(TSqlStatement at) { }
        protected virtual void OnRollbackWithoutTransaction(TSqlStatement at) { }
        protected virtual void OnUnboundedDepth(TSqlStatement at) { }

        /// <summary>The state after the data access of one statement, nested statements excluded.</summary>
        protected virtual FlowState OnAccess(TSqlFragment access, FlowState state) => state;

        protected void Run(ProcedureStatementBody procedure, FlowState entry)
        {
            flags = FlagVariables.Of(procedure);
            var end = Sequence(procedure.StatementList.Statements, new HashSet<FlowState> { entry });
            foreach (var state in end) OnExit(LastStatement(procedure), state, Exit.Normal);
        }

        static TSqlFragment LastStatement(ProcedureStatementBody procedure)
        {
            TSqlStatement last = procedure.StatementList.Statements.LastOrDefault();
            while (last is BeginEndBlockStatement block && block.StatementList.Statements.Count > 0)
                last = block.StatementList.Statements.Last();
            return last ?? (TSqlFragment)procedure;
        }

        HashSet<FlowState> Sequence(IList<TSqlStatement> statements, HashSet<FlowState> states)
        {
            foreach (var statement in statements)
            {
                caught?.UnionWith(states);
                states = Step(statement, states);
            }
            return states;
        }

        HashSet<FlowState> Step(TSqlStatement statement, HashSet<FlowState> states)
        {
            if (statement is BeginEndBlockStatement block) return Sequence(block.StatementList.Statements, states);
            if (statement is IfStatement branch) return Branch(branch, states);
            if (statement is WhileStatement loop) return Loop(loop, states);
            if (statement is TryCatchStatement guarded) return TryCatch(guarded, states);
            if (statement is BreakStatement) return Jump(states, breaks);
            if (statement is ContinueStatement) return Jump(states, continues);
            if (statement is ReturnStatement) return Leave(statement, states, Exit.Normal);
            if (statement is ThrowStatement)
                return caught == null ? Leave(statement, states, Exit.Throw) : Jump(states, caught);
            if (statement is BeginTransactionStatement) return Begin(statement, states);
            if (statement is CommitTransactionStatement) return Commit(statement, states);
            if (statement is RollbackTransactionStatement) return Rollback(statement, states);
            return Map(states, s => FlagVariables.After(statement, OnAccess(statement, s), flags));
        }

        static HashSet<FlowState> Jump(HashSet<FlowState> states, HashSet<FlowState> target)
        {
            target.UnionWith(states);
            return Nowhere();
        }

        HashSet<FlowState> Rollback(TSqlStatement statement, HashSet<FlowState> states)
        {
            if (states.Any(s => s.Depth == 0)) OnRollbackWithoutTransaction(statement);
            return Map(states, s => s.WithDepth(0));
        }

        HashSet<FlowState> Leave(TSqlStatement statement, HashSet<FlowState> states, Exit exit)
        {
            foreach (var state in states) OnExit(statement, OnAccess(statement, state), exit);
            return Nowhere();
        }

        HashSet<FlowState> Begin(TSqlStatement statement, HashSet<FlowState> states)
        {
            if (states.Any(s => s.Depth >= DepthMax)) OnUnboundedDepth(statement);
            return Map(states, s => s.WithDepth(System.Math.Min(s.Depth + 1, DepthMax)));
        }

        HashSet<FlowState> Commit(TSqlStatement statement, HashSet<FlowState> states)
        {
            if (states.Any(s => s.Depth == 0)) OnCommitWithoutTransaction(statement);
            return Map(states, s => s.WithDepth(System.Math.Max(s.Depth - 1, 0)));
        }

        HashSet<FlowState> Branch(IfStatement branch, HashSet<FlowState> states)
        {
            states = Map(states, s => OnAccess(branch.Predicate, s));
            var then = Step(branch.ThenStatement, Where(states, branch.Predicate, true));
            var otherwise = Where(states, branch.Predicate, false);
            if (branch.ElseStatement != null) otherwise = Step(branch.ElseStatement, otherwise);
            then.UnionWith(otherwise);
            return then;
        }

        HashSet<FlowState> Loop(WhileStatement loop, HashSet<FlowState> states)
        {
            var outerBreaks = breaks;
            var outerContinues = continues;
            breaks = new HashSet<FlowState>();
            var heads = new HashSet<FlowState>(states);
            var before = -1;
            while (heads.Count != before)
            {
                before = heads.Count;
                continues = new HashSet<FlowState>();
                heads = new HashSet<FlowState>(heads.Union(Map(heads, s => OnAccess(loop.Predicate, s))));
                heads.UnionWith(Step(loop.Statement, Where(heads, loop.Predicate, true)));
                heads.UnionWith(continues);
            }
            var after = Where(heads, loop.Predicate, false);
            after.UnionWith(breaks);
            breaks = outerBreaks;
            continues = outerContinues;
            return after;
        }

        HashSet<FlowState> TryCatch(TryCatchStatement guarded, HashSet<FlowState> states)
        {
            var outer = caught;
            caught = new HashSet<FlowState>(states);
            var after = Sequence(guarded.TryStatements.Statements, states);
            var entry = caught;
            caught = outer;
            after.UnionWith(Sequence(guarded.CatchStatements.Statements, entry));
            return after;
        }

        static HashSet<FlowState> Nowhere() => new HashSet<FlowState>();

        static HashSet<FlowState> Map(HashSet<FlowState> states, System.Func<FlowState, FlowState> next) =>
            new HashSet<FlowState>(states.Select(next));

        static HashSet<FlowState> Where(HashSet<FlowState> states, BooleanExpression condition, bool wanted) =>
            new HashSet<FlowState>(states.Where(s => Condition.Evaluate(condition, s) != !wanted));
    }
}
