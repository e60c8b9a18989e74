// The one order in which every transaction touches the tables. ARCHITECTURE.md states the same list; a rule compares them.
using System;
using System.Collections.Generic;
using System.Linq;

namespace TsqlCheck
{
    static class LockOrder
    {
        public static readonly string[] Tables =
        {
            "instance_locks",
            "session_lanes",
            "orchestrator_queue",
            "instances",
            "executions",
            "history",
            "kv_store",
            "kv_delta",
            "worker_queue",
            "sessions",
        };

        /// <summary>The table's place, or -1 when the order does not know it.</summary>
        public static int Place(string table) => Array.FindIndex(Tables, t => Tokens.Same(t, table));

        public static uint Bits(IEnumerable<string> tables) =>
            tables.Select(Place).Where(p => p >= 0).Aggregate(0u, (bits, p) => bits | 1u << p);

        public static int First(uint bits) => Enumerable.Range(0, 32).First(p => (bits & 1u << p) != 0);

        public static int Last(uint bits) => Enumerable.Range(0, 32).Last(p => (bits & 1u << p) != 0);
    }
}
