// Microsoft's schema compiler binds all definitions together, as SQL Server 2017 and as Azure SQL.
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.SqlServer.Dac.Model;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class ModelCheck
    {
        public const string Rule = "binding";

        static readonly KeyValuePair<string, SqlServerVersion>[] Targets =
        {
            new KeyValuePair<string, SqlServerVersion>("SQL Server 2017", SqlServerVersion.Sql140),
            new KeyValuePair<string, SqlServerVersion>("Azure SQL", SqlServerVersion.SqlAzure),
        };

        readonly List<Definition> definitions;
        // Place and reason, to the targets that gave it.
        readonly Dictionary<Finding, List<string>> complaints = new Dictionary<Finding, List<string>>();

        ModelCheck(List<Definition> definitions) { this.definitions = definitions; }

        public static void Check(Repository repository, Report report)
        {
            var check = new ModelCheck(new Definitions(repository, report).All);
            foreach (var target in Targets) check.Run(target.Key, target.Value);
            foreach (var complaint in check.complaints)
            {
                var only = complaint.Value.Count == Targets.Length ? "" : $" ({string.Join(", ", complaint.Value)} only)";
                report.Add(complaint.Key.File, complaint.Key.Line, Rule, complaint.Key.Reason + only);
            }
        }

        void Run(string target, SqlServerVersion version)
        {
            using (var model = new TSqlModel(version, new TSqlModelOptions()))
            {
                if (!definitions.Any(d => d.Statement is CreateSchemaStatement))
                    model.AddObjects($"CREATE SCHEMA [{Script.Schema}]");
                foreach (var definition in definitions)
                {
                    try
                    {
                        model.AddOrUpdateObjects(definition.ModelText(), definition.Source, new TSqlObjectOptions());
                    }
                    catch (DacModelException)
                    {
                        // The exception repeats every error so far; the model keeps them with their places.
                    }
                }
                var placed = model.GetModelErrors().ToList();
                foreach (var error in placed)
                    Complain(target, definitions.FirstOrDefault(d => d.Source == error.SourceName), error.Line, $"SQL{error.ErrorCode} {error.Message}");
                foreach (var message in model.Validate())
                    if (!placed.Any(e => message.Message.Contains(e.Message)))
                        Locate(target, $"SQL{message.Number}", message.Message);
            }
        }

        // The compiler's messages name the object and the reference, but no line.
        void Locate(string target, string number, string message)
        {
            var text = Regex.Replace(message, @"^Error validating element .+?: (?=Sql\w+: )", "");
            var subject = Regex.Match(text, @"^(Sql\w+): (\[.+?\])(?= |$)");
            var names = Parts(subject.Groups[2].Value);
            var isProcedure = subject.Groups[1].Value == "SqlProcedure";
            var definition = definitions.FirstOrDefault(d => d.Statement is ProcedureStatementBody == isProcedure && Defines(d, names));
            var reference = Regex.Match(text, @"(?:reference to (?:object|Sql\w+)|following objects:) (\[[^ ]+\])");
            var parts = Parts(reference.Groups[1].Value).Where(p => !Tokens.Same(p, Script.Schema)).ToList();
            var line = definition == null ? 1 : definition.LineOfReference(parts.Count > 0 ? parts : names);
            Complain(target, definition, line, $"{number} {text}");
        }

        void Complain(string target, Definition definition, int line, string reason)
        {
            var file = definition?.Script.File ?? "migrations";
            var key = complaints.Keys.FirstOrDefault(f => f.File == file && f.Line == line && f.Reason == reason);
            if (key == null) complaints[key = new Finding(file, line, Rule, reason)] = new List<string>();
            if (!complaints[key].Contains(target)) complaints[key].Add(target);
        }

        static List<string> Parts(string name) =>
            Regex.Matches(name, @"\[((?:[^\]]|\]\])*)\]").Cast<Match>().Select(m => m.Groups[1].Value.Replace("]]", "]")).ToList();

        // A complaint about a constraint or an index names that object, which its table's definition may contain.
        static bool Defines(Definition definition, IList<string> names)
        {
            if (names.Count == 0) return false;
            string[] own = null;
            if (definition.Statement is ProcedureStatementBody procedure)
                own = new[] { procedure.ProcedureReference.Name.BaseIdentifier.Value };
            if (definition.Statement is CreateIndexStatement index)
                own = new[] { index.OnName.BaseIdentifier.Value, index.Name.Value };
            if (own == null) return Tokens.Of(definition.Statement).Any(t => Tokens.Same(Tokens.Name(t), names.Last()));
            return names.Count >= own.Length && own.SequenceEqual(names.Skip(names.Count - own.Length), System.StringComparer.OrdinalIgnoreCase);
        }
    }
}
