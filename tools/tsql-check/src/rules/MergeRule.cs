// No MERGE: it is not atomic against other writers without HOLDLOCK, and separate statements say more.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class MergeRule : Rule
    {
        public override string Name => "merge";

        public override void Visit(MergeStatement node) => Found(node, "MERGE is used; write UPDATE, then INSERT when @@ROWCOUNT = 0");
    }
}
