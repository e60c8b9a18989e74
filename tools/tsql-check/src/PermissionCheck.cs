// The runtime role gets EXECUTE on every public procedure, the others SELECT on every public view, and nothing else.
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
            var views = repository.Views.Select(v => v.ViewName).ToList();
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
            foreach (var view in views.Where(v => !v.StartsWith("_") && !granted.Contains(v)))
                report.Add(File, last, Rule, $"nothing grants SELECT on {view}");
        }

        // A view with payloads is for the role that may see them; the header of the view says which one that is.
        static string ViewProblem(Script view, GrantStatement grant, List<string> rights)
        {
            if (view.ViewName.StartsWith("_")) return $"{view.ViewName} is a helper; only views read it";
            if (rights.Any(r => r != "SELECT")) return $"{string.Join(", ", rights)} is granted on {view.ViewName}; views are read only";
            var readers = Header.Of(view)["Readers"] ?? "";
            foreach (var role in new[] { "observer", "inspector" })
                if (grant.Principals.Any(p => Tokens.Same(p.Identifier.Value, role)) && !readers.Contains("_" + role))
                    return $"{view.ViewName} is granted to the {role}, which its header does not name under Readers";
            return null;
        }

        static string Problem(Repository repository, GrantStatement grant, string name)
        {
            var rights = grant.Permissions.Select(p => string.Join(" ", p.Identifiers.Select(i => i.Value)).ToUpperInvariant()).ToList();
            var isObject = grant.SecurityTargetObject != null && (grant.SecurityTargetObject.ObjectKind == SecurityObjectKind.Object
                || grant.SecurityTargetObject.ObjectKind == SecurityObjectKind.NotSpecified);
            if (!isObject) return "the grant is wider than one procedure; helpers and tables must stay out of reach";
            var view = repository.Views.FirstOrDefault(v => Tokens.Same(v.ViewName, name));
            if (view != null) return ViewProblem(view, grant, rights);
            if (rights.Any(r => r != "EXECUTE")) return $"{string.Join(", ", rights)} is granted on {name}; the runtime role has EXECUTE only";
            return repository.ProcedureNamed(name)?.IsHelper == true ? $"{name} is a helper; only procedures call it" : null;
        }
    }
}
