// Dirty reads are for figures that may be a little wrong: the metrics procedures and the view named here, nothing else.
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class NoLockRule : Rule
    {
        static readonly string[] Metrics = { "get_system_metrics", "get_queue_depths", "v_queue_depth" };

        public override string Name => "nolock";

        public override void Visit(TableHint node)
        {
            var dirty = node.HintKind == TableHintKind.NoLock || node.HintKind == TableHintKind.ReadUncommitted;
            if (dirty && !Metrics.Contains(Script.ProcedureName) && !Metrics.Contains(Script.ViewName))
                Found(node, $"NOLOCK reads uncommitted rows; only {string.Join(" and ", Metrics)} may");
        }
    }
}
