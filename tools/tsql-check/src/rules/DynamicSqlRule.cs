// No dynamic SQL: it breaks the ownership chain that lets a login with EXECUTE only work, and no compiler reads it.
using System;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class DynamicSqlRule : Rule
    {
        public override string Name => "dynamic-sql";

        public override void Visit(ExecuteStatement node)
        {
            var entity = node.ExecuteSpecification.ExecutableEntity;
            if (entity is ExecutableProcedureReference procedure) Check(node, procedure.ProcedureReference);
            else if (Script.Kind == ScriptKind.Procedure || SchemaCreation.In(node) == null)
                Found(node, "EXEC of a string; only a migration's EXEC (N'CREATE SCHEMA …') has no other form");
        }

        void Check(ExecuteStatement node, ProcedureReferenceName reference)
        {
            if (reference.ProcedureVariable != null) Found(node, "the procedure's name comes from a variable");
            var name = reference.ProcedureReference?.Name.BaseIdentifier.Value ?? "";
            if (name.Equals("sp_executesql", StringComparison.OrdinalIgnoreCase)) Found(node, "sp_executesql runs text");
        }
    }
}
