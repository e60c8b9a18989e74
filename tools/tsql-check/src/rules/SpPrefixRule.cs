// SQL Server looks names that begin with sp_ up in master first.
using System;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class SpPrefixRule : Rule
    {
        public override string Name => "sp-prefix";

        public override void Visit(ProcedureStatementBody node)
        {
            var name = node.ProcedureReference.Name.BaseIdentifier;
            if (name.Value.StartsWith("sp_", StringComparison.OrdinalIgnoreCase))
                Found(name, $"the name {name.Value} begins with sp_, which SQL Server looks up in master first");
        }
    }
}
