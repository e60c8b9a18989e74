// UPDATE and DELETE say which rows: a forgotten WHERE would rewrite every tenant's work.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class WhereRule : Rule
    {
        public override string Name => "where";

        public override void Visit(UpdateSpecification node) => Check(node, node.WhereClause, "UPDATE");

        public override void Visit(DeleteSpecification node) => Check(node, node.WhereClause, "DELETE");

        // A table variable lives and dies with the call, so emptying it is harmless.
        void Check(DataModificationSpecification node, WhereClause where, string verb)
        {
            if (where == null && !(node.Target is VariableTableReference)) Found(node, $"{verb} without WHERE");
        }
    }
}
