// Follows a procedure and the helpers it executes, and notes where a table is touched against the lock order.
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class LockPaths : FlowAnalysis
    {
        readonly Repository repository;
        readonly Dictionary<Tuple<string, FlowState>, LockPaths> calls;
        uint touchedAtExit;
        uint heldAtExit;

        /// <summary>Where and how the procedure departs from the order; a helper's departures stand at its EXEC.</summary>
        public readonly List<KeyValuePair<TSqlFragment, string>> Departures = new List<KeyValuePair<TSqlFragment, string>>();

        /// <summary>Tables without a place in the order that a transaction touches.</summary>
        public readonly HashSet<string> Unplaced = new HashSet<string>(StringComparer.OrdinalIgnoreCase);

        LockPaths(Repository repository, Dictionary<Tuple<string, FlowState>, LockPaths> calls)
        {
            this.repository = repository;
            this.calls = calls;
        }

        public static LockPaths Of(ProcedureStatementBody procedure, Repository repository)
        {
            var paths = new LockPaths(repository, new Dictionary<Tuple<string, FlowState>, LockPaths>());
            paths.Run(procedure, FlowState.AtEntry(0));
            return paths;
        }

        protected override void OnExit(TSqlFragment at, FlowState state, Exit exit)
        {
            touchedAtExit |= state.Touched;
            heldAtExit |= state.Held;
        }

        // A table counts when it is first touched and again when it is first written or locked to the end. One statement's tables
        // are locked in an order the optimiser chooses, so they are compared with earlier statements only.
        protected override FlowState OnAccess(TSqlFragment access, FlowState state)
        {
            if (state.Depth == 0) return state;
            var own = Access.Of(access);
            Unplaced.UnionWith(own.Touched.Where(t => LockOrder.Place(t) < 0));
            var touched = LockOrder.Bits(own.Touched);
            var held = LockOrder.Bits(own.Held);
            var added = touched & ~state.Touched | held & ~state.Held;
            if (added != 0 && state.Touched != 0 && LockOrder.First(added) < LockOrder.Last(state.Touched))
                Depart(access, $"{LockOrder.Tables[LockOrder.First(added)]} is touched after {LockOrder.Tables[LockOrder.Last(state.Touched)]}");
            var after = state.WithTables(touched, held);
            foreach (var name in own.Called) after = Call(access, name, after);
            return after;
        }

        // A helper goes on from what its caller has touched: a table that is already locked may be touched again.
        FlowState Call(TSqlFragment at, string name, FlowState state)
        {
            var callee = repository.ProcedureNamed(name);
            if (callee == null) return state;
            var entry = state.WithFlags(Flags.None);
            var key = Tuple.Create(name, entry);
            if (!calls.TryGetValue(key, out var inner))
            {
                calls[key] = inner = new LockPaths(repository, calls);
                inner.Run(callee.Procedure, entry);
            }
            if (Header.Of(callee)["Order"] == null)
                foreach (var departure in inner.Departures) Depart(at, $"in {name}, {departure.Value}");
            return state.WithTables(inner.touchedAtExit, inner.heldAtExit);
        }

        void Depart(TSqlFragment at, string how) => Departures.Add(new KeyValuePair<TSqlFragment, string>(at, how));
    }
}
