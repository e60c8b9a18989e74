// Inside a transaction tables are touched in the one order of LockOrder.cs, or the header's Order line says why not.
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class LockOrderRule : Rule
    {
        public override string Name => "lock-order";

        // A helper is judged where it is executed, since only its callers know what is locked by then.
        protected override void CheckScript()
        {
            if (Script.Procedure == null || Script.IsHelper) return;
            var paths = LockPaths.Of(Script.Procedure, Repository);
            var header = Header.Of(Script);
            if (header["Order"] == null)
                foreach (var departure in paths.Departures)
                    Found(departure.Key, $"{departure.Value}; keep the lock order, or give the reason on an Order line of the header");
            else if (!paths.Departures.Any())
                FoundAt(header.LineOf("Order", 1), "Order excuses a departure from the lock order, but there is none");
            foreach (var table in paths.Unplaced)
                Found(Script.Procedure, $"the table {table} has no place in the lock order");
        }
    }
}
