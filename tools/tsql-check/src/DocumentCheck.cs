// What the documents promise about the scripts: one meaning per error number, the lock order, a complete teardown.
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    static class DocumentCheck
    {
        public const string ErrorTableRule = "error-table";
        public const string ArchitectureRule = "architecture";
        public const string TeardownRule = "teardown";

        public static void Check(Repository repository, Report report)
        {
            CheckErrors(repository, report);
            CheckArchitecture(repository, report);
            CheckTeardown(repository, report);
        }

        static void CheckErrors(Repository repository, Report report)
        {
            var thrown = repository.Migrations.Where(s => s.Tree != null)
                .SelectMany(s => Collector<ThrowStatement>.In(s.Tree))
                .Select(t => (t.ErrorNumber as IntegerLiteral)?.Value).ToList();
            var rows = repository.Errors.Rows;
            foreach (var row in rows)
            {
                if (rows.Any(r => r.Line < row.Line && r.Number == row.Number))
                    report.Add(repository.Errors.File, row.Line, ErrorTableRule, $"the number {row.Number} has a second meaning here");
                if (rows.Any(r => r.Line < row.Line && r.Name == row.Name && r.Number != row.Number))
                    report.Add(repository.Errors.File, row.Line, ErrorTableRule, $"the name {row.Name} has a second number here");
                if (!thrown.Contains(row.Number.ToString()))
                    report.Add(repository.Errors.File, row.Line, ErrorTableRule, $"no script throws {row.Number}");
            }
        }

        // The order is written for people in ARCHITECTURE.md as names with arrows between them, possibly over several lines.
        static void CheckArchitecture(Repository repository, Report report)
        {
            const string file = "ARCHITECTURE.md";
            if (!File.Exists(repository.Full(file))) return;
            var text = repository.Read(file);
            var chain = Regex.Match(text, @"`?instance_locks`?(\s*→\s*`?\w+`?)+");
            var names = Regex.Matches(chain.Value, @"\w+").Cast<Match>().Select(m => m.Value);
            var line = chain.Success ? text.Take(chain.Index).Count(c => c == '\n') + 1 : 1;
            if (!names.SequenceEqual(LockOrder.Tables))
                report.Add(file, line, ArchitectureRule, $"the lock order checked is {string.Join(" → ", LockOrder.Tables)}; state the same here");
        }

        static void CheckTeardown(Repository repository, Report report)
        {
            const string file = "migrations/teardown/drop_schema.sql";
            var script = repository.Migrations.FirstOrDefault(s => s.File == file);
            if (script?.Tree == null) return;
            var dropped = Collector<DropObjectsStatement>.In(script.Tree).SelectMany(d => d.Objects).ToList();
            var created = repository.Migrations.Where(s => s.Tree != null).SelectMany(s =>
                Collector<CreateTableStatement>.In(s.Tree).Select(t => t.SchemaObjectName)
                    .Concat(Collector<ProcedureStatementBody>.In(s.Tree).Select(p => p.ProcedureReference.Name))
                    .Concat(Collector<ViewStatementBody>.In(s.Tree).Select(v => v.SchemaObjectName)))
                .Select(n => n.BaseIdentifier.Value).Where(n => !n.StartsWith("#")).ToList();
            var last = script.Line(script.Tree.Batches.Last().Statements.Last());
            foreach (var name in created.Where(c => !dropped.Any(d => Tokens.Same(d.BaseIdentifier.Value, c))))
                report.Add(file, last, TeardownRule, $"{name} is created by a migration but not dropped");
            foreach (var name in dropped.Where(d => !created.Any(c => Tokens.Same(d.BaseIdentifier.Value, c))))
                report.Add(file, script.Line(name), TeardownRule, $"{name.BaseIdentifier.Value} is dropped, but no migration creates it");
        }
    }
}
