// Dirty reads are for figures that may be a little wrong: the metrics procedures named here, nothing else.
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class NoLockRule : Rule
    {
        static readonly string[] MetricsProcedures = { "get_system_metrics", "get_queue_depths" };

        public override string Name => "nolock";

        public override void Visit(TableHint node)
        {
            var dirty = node.HintKind == TableHintKind.NoLock || node.HintKind == TableHintKind.ReadUncommitted;
            if (dirty && !MetricsProcedures.Contains(Script.ProcedureName))
                Found(node, $"NOLOCK reads uncommitted rows; only {string.Join(" and ", MetricsProcedures)} may");
        }
    }
}
