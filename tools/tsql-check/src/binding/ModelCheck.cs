// Microsoft's schema compiler binds all definitions together, as SQL Server 2017 and as Azure SQL.
using System.Collections.Generic;
using System.Linq;
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

        // A model that refused one definition takes no further ones, so a new one is built without it.
        void Run(string target, SqlServerVersion version)
        {
            var accepted = definitions.ToList();
            while (true)
            {
                using (var model = new TSqlModel(version, new TSqlModelOptions()))
                {
                    var refused = Fill(model, accepted);
                    if (refused == null)
                    {
                        Report(target, model.Validate());
                        return;
                    }
                    foreach (var error in model.GetModelErrors())
                        Complain(target, refused, error.Line, $"SQL{error.ErrorCode} {error.Message}");
                    accepted.Remove(refused);
                }
            }
        }

        // Returns the first definition that the model refuses, or null when it took all of them.
        static Definition Fill(TSqlModel model, List<Definition> definitions)
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
                    return definition;
                }
            }
            return null;
        }

        // A missing object makes all its columns and parameters missing too; the object alone is reported.
        void Report(string target, IList<DacModelMessage> messages)
        {
            var parsed = messages.Select(m => ModelMessage.Parse(m.Number, m.Message)).ToList();
            foreach (var message in parsed)
                if (!SystemObjects.Knows(message.Reference) && !parsed.Any(p => p.Explains(message)))
                    Locate(target, message);
        }

        // The compiler's messages name the object and the reference, but no line.
        void Locate(string target, ModelMessage parsed)
        {
            var parts = parsed.Reference.Where(p => !Tokens.Same(p, Script.Schema)).ToList();
            var definition = parsed.IsPermission
                ? definitions.FirstOrDefault(d => d.Statement is SecurityStatement && Defines(d, parts))
                : definitions.FirstOrDefault(d => d.Statement is ProcedureStatementBody == parsed.IsProcedure && Defines(d, parsed.Subject))
                    ?? definitions.FirstOrDefault(d => Defines(d, parsed.Subject));
            var line = definition == null ? 1 : definition.LineOfReference(parts.Count > 0 ? parts : parsed.Subject);
            Complain(target, definition, line, $"SQL{parsed.Number} {parsed.Text}");
        }

        void Complain(string target, Definition definition, int line, string reason)
        {
            var file = definition?.Script.File ?? "migrations";
            var key = complaints.Keys.FirstOrDefault(f => f.File == file && f.Line == line && f.Reason == reason);
            if (key == null) complaints[key = new Finding(file, line, Rule, reason)] = new List<string>();
            if (!complaints[key].Contains(target)) complaints[key].Add(target);
        }

        // A complaint about a constraint or an index names that object, which its table's definition may contain.
        static bool Defines(Definition definition, IList<string> names)
        {
            if (names.Count == 0) return false;
            string[] own = null;
            if (definition.Statement is ProcedureStatementBody procedure)
                own = new[] { procedure.ProcedureReference.Name.BaseIdentifier.Value };
            // A complaint about a view's column names the column after the view.
            if (definition.Statement is ViewStatementBody view)
                return names.Skip(names.Count - 2).Any(n => Tokens.Same(n, view.SchemaObjectName.BaseIdentifier.Value));
            if (definition.Statement is CreateIndexStatement index)
                own = new[] { index.OnName.BaseIdentifier.Value, index.Name.Value };
            if (own == null) return Tokens.Of(definition.Statement).Any(t => Tokens.Same(Tokens.Name(t), names.Last()));
            return names.Count >= own.Length && own.SequenceEqual(names.Skip(names.Count - own.Length), System.StringComparer.OrdinalIgnoreCase);
        }
    }
}
