// Every THROW uses a literal number that docs/errors.md lists.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class ErrorNumberRule : Rule
    {
        public override string Name => "error-number";

        public override void Visit(ThrowStatement node)
        {
            // A bare THROW passes the caught error on.
            if (node.ErrorNumber == null) return;
            if (!(node.ErrorNumber is IntegerLiteral literal) || !int.TryParse(literal.Value, out var number))
                Found(node, "the number of THROW is not a literal");
            else if (!Repository.Errors.Lists(number))
                Found(node, $"THROW {number}, which {Repository.Errors.File} does not list");
        }
    }
}
