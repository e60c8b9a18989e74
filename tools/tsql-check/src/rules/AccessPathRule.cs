// The tables of the lock order are reached by a named index and locked row by row. The order of locks follows the path: a
// plan that came through another index would lock entry and row the other way round, or wait for rows of others, and
// READPAST steps over row locks only.
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class AccessPathRule : Rule
    {
        // Who writes a table that fetches step through finds the row here, and then locks its entries in the other
        // indexes. The rows of all other tables are written under the lock of their instance.
        static readonly Dictionary<string, string> WritersIndex = new Dictionary<string, string>
        {
            { "instance_locks", "pk_instance_locks" },
            { "session_lanes", "uq_session_lanes_key" },
            { "worker_queue", "pk_worker_queue" },
            { "sessions", "pk_sessions" },
        };

        readonly HashSet<TSqlFragment> inserted = new HashSet<TSqlFragment>();

        public override string Name => "access-path";

        protected override void CheckScript()
        {
            if (Script.Procedure != null) base.CheckScript();
        }

        public override void Visit(InsertSpecification node)
        {
            inserted.Add(node.Target);
            var hints = (node.Target as NamedTableReference)?.TableHints;
            if (Shared(node.Target) != null && !hints.Any(h => h.HintKind == TableHintKind.Rowlock))
                Found(node.Target, $"rows go into {Shared(node.Target)} without ROWLOCK");
        }

        public override void Visit(UpdateSpecification node) => CheckWrite(node);

        public override void Visit(DeleteSpecification node) => CheckWrite(node);

        void CheckWrite(DataModificationSpecification node)
        {
            var target = node.Target as NamedTableReference;
            if (target == null) return;
            var alias = target.SchemaObject.BaseIdentifier.Value;
            var source = target.SchemaObject.SchemaIdentifier != null ? target : Collector<NamedTableReference>.In(node)
                .FirstOrDefault(t => t != target && Tokens.Same(t.Alias?.Value, alias));
            var table = source == null ? null : Shared(source);
            string expected;
            if (table == null || !WritersIndex.TryGetValue(table, out expected)) return;
            var index = Indexes(source).FirstOrDefault();
            if (index == null || index == expected) return;
            Found(source, $"{table} is written through {index}; all its writers come through {expected}");
        }

        public override void Visit(NamedTableReference node)
        {
            var table = Shared(node);
            if (table == null || inserted.Contains(node)) return;
            var kinds = node.TableHints.Select(h => h.HintKind).ToList();
            if (kinds.Contains(TableHintKind.NoLock)) return;
            if (!Indexes(node).Any()) Found(node, $"{table} is reached without INDEX(…); the plan would choose the order of locks");
            else if (!kinds.Contains(TableHintKind.Rowlock)) Found(node, $"{table} is reached without ROWLOCK");
        }

        static IEnumerable<string> Indexes(NamedTableReference node) =>
            node.TableHints.OfType<IndexTableHint>().SelectMany(h => h.IndexValues).Select(v => v.Identifier?.Value);

        static string Shared(TableReference reference)
        {
            var name = (reference as NamedTableReference)?.SchemaObject;
            if (!Tokens.Same(name?.SchemaIdentifier?.Value, Script.Schema)) return null;
            return LockOrder.Tables.FirstOrDefault(t => Tokens.Same(t, name.BaseIdentifier.Value));
        }
    }
}
