// The runtime role gets EXECUTE on every public procedure and nothing else.
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    static class PermissionCheck
    {
        public const string Rule = "permissions";
        const string File = "migrations/permissions.sql";

        public static void Check(Repository repository, Report report)
        {
            var script = repository.Migrations.FirstOrDefault(s => s.File == File);
            if (script?.Tree == null) return;
            var granted = new List<string>();
            foreach (var grant in Collector<GrantStatement>.In(script.Tree))
            {
                var name = grant.SecurityTargetObject?.ObjectName?.MultiPartIdentifier.Identifiers.Last().Value ?? "";
                granted.Add(name);
                var problem = Problem(repository, grant, name);
                if (problem != null) report.Add(File, script.Line(grant), Rule, problem);
            }
            var last = script.Line(script.Tree.Batches.Last().Statements.Last());
            foreach (var procedure in repository.Procedures.Where(p => p.Kind == ScriptKind.Procedure && !p.IsHelper))
                if (!granted.Contains(procedure.ProcedureName))
                    report.Add(File, last, Rule, $"nothing grants EXECUTE on {procedure.ProcedureName}");
        }

        static string Problem(Repository repository, GrantStatement grant, string name)
        {
            var rights = grant.Permissions.Select(p => string.Join(" ", p.Identifiers.Select(i => i.Value)).ToUpperInvariant()).ToList();
            var isObject = grant.SecurityTargetObject != null && (grant.SecurityTargetObject.ObjectKind == SecurityObjectKind.Object
                || grant.SecurityTargetObject.ObjectKind == SecurityObjectKind.NotSpecified);
            if (!isObject) return "the grant is wider than one procedure; helpers and tables must stay out of reach";
            if (rights.Any(r => r != "EXECUTE")) return $"{string.Join(", ", rights)} is granted on {name}; the runtime role has EXECUTE only";
            return repository.ProcedureNamed(name)?.IsHelper == true ? $"{name} is a helper; only procedures call it" : null;
        }
    }
}
