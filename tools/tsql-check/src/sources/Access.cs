// Which stored tables a piece of T-SQL reads, writes and locks, and which procedures it calls.
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class Access : TSqlFragmentVisitor
    {
        static readonly TableHintKind[] HoldingHints =
        {
            TableHintKind.UpdLock, TableHintKind.XLock, TableHintKind.HoldLock, TableHintKind.Serializable,
            TableHintKind.RepeatableRead, TableHintKind.TabLock, TableHintKind.TabLockX,
        };

        public readonly HashSet<string> Touched = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        /// <summary>Written, or read with a hint that keeps the lock to the end of the transaction.</summary>
        public readonly HashSet<string> Held = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        public readonly HashSet<string> Called = new HashSet<string>(StringComparer.OrdinalIgnoreCase);

        public static Access Of(TSqlFragment fragment)
        {
            var access = new Access();
            fragment.Accept(access);
            return access;
        }

        /// <summary>The same, with everything that the called procedures do added.</summary>
        public static Access WithCallees(TSqlFragment fragment, Repository repository)
        {
            var access = Of(fragment);
            var open = new Queue<string>(access.Called);
            while (open.Count > 0)
            {
                var callee = repository.ProcedureNamed(open.Dequeue());
                if (callee == null) continue;
                var inner = Of(callee.Procedure);
                access.Touched.UnionWith(inner.Touched);
                access.Held.UnionWith(inner.Held);
                foreach (var name in inner.Called.Where(n => access.Called.Add(n))) open.Enqueue(name);
            }
            return access;
        }

        public override void Visit(NamedTableReference node)
        {
            if (!Tokens.Same(node.SchemaObject.SchemaIdentifier?.Value, Script.Schema)) return;
            var hints = node.TableHints.Select(h => h.HintKind).ToList();
            if (hints.Contains(TableHintKind.NoLock)) return;
            var table = node.SchemaObject.BaseIdentifier.Value;
            Touched.Add(table);
            if (hints.Intersect(HoldingHints).Any()) Held.Add(table);
        }

        public override void Visit(DataModificationSpecification node)
        {
            var target = (node.Target as NamedTableReference)?.SchemaObject;
            if (target == null) return;
            if (target.SchemaIdentifier != null) Held.Add(target.BaseIdentifier.Value);
            else Held.UnionWith(Aliased(node, target.BaseIdentifier.Value));
        }

        // UPDATE q … FROM [schema].queue AS q writes the table behind the alias.
        static IEnumerable<string> Aliased(DataModificationSpecification node, string alias) =>
            Collector<NamedTableReference>.In(node)
                .Where(t => Tokens.Same(t.Alias?.Value, alias))
                .Select(t => t.SchemaObject.BaseIdentifier.Value);

        public override void Visit(ExecutableProcedureReference node)
        {
            var name = node.ProcedureReference.ProcedureReference?.Name;
            if (Tokens.Same(name?.SchemaIdentifier?.Value, Script.Schema)) Called.Add(name.BaseIdentifier.Value);
        }
    }
}
