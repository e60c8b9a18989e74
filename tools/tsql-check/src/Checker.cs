// Runs every check over one folder that is laid out like the repository.
using System.Collections.Generic;
using System.Linq;

namespace TsqlCheck
{
    static class Checker
    {
        public static Repository Run(string root, IEnumerable<string> generated, Report report)
        {
            var repository = new Repository(root, generated);
            // A moved folder must not turn the check into one that passes because it reads nothing.
            if (!repository.Migrations.Any())
                report.Add("migrations", 1, Syntax.Rule, "there are no scripts to check");
            foreach (var script in repository.Scripts) Syntax.Check(script, report);
            foreach (var script in repository.Migrations.Where(s => s.Tree != null))
                foreach (var rule in Rule.All()) rule.Check(repository, script, report);
            ModelCheck.Check(repository, report);
            DocumentCheck.Check(repository, report);
            PermissionCheck.Check(repository, report);
            EngineCases.Check(repository, report);
            return repository;
        }

        /// <summary>The name of every check that can report, for the self-test to demand an example of each.</summary>
        public static IEnumerable<string> RuleNames() =>
            Rule.All().Select(r => r.Name).Concat(new[]
            {
                Syntax.Rule, ModelCheck.Rule, EngineCases.Rule, PermissionCheck.Rule,
                DocumentCheck.ErrorTableRule, DocumentCheck.ArchitectureRule, DocumentCheck.TeardownRule,
            });
    }
}
