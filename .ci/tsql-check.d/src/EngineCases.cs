// The embedded engine's T-SQL cases: what the engine accepts Microsoft's parser accepts, and what it refuses as syntax so does the parser.
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;

namespace TsqlCheck
{
    static class EngineCases
    {
        public const string Rule = "engine-case";
        const string Folder = "mssql-embedded/tests/cases";
        const string DifferencesFile = Folder + "/parser-differences.txt";

        // The numbers with which SQL Server's own parser refuses a batch.
        static readonly int[] SyntaxNumbers = { 102, 103, 105, 111, 113, 156, 319, 321, 336, 1018 };

        sealed class Case
        {
            public string File;
            public int Line;
            public string Name;
            public string Text;
            public bool ExpectsSyntaxError;
            public string Key => $"{Path.GetFileName(File)}: {Name}";
        }

        public static void Check(Repository repository, Report report)
        {
            var explained = Differences(repository);
            foreach (var file in repository.Files(Folder, "*.sql"))
                foreach (var one in Read(file, repository.Read(file)))
                    Check(one, explained, report);
            foreach (var stale in explained.Values)
                report.Add(DifferencesFile, stale, Rule, "this difference no longer exists, or names no case");
        }

        static void Check(Case one, Dictionary<string, int> explained, Report report)
        {
            var errors = Syntax.Errors(one.Text);
            if (errors.Any() == one.ExpectsSyntaxError) return;
            if (explained.Remove(one.Key)) return;
            if (one.ExpectsSyntaxError)
                report.Add(one.File, one.Line, Rule, $"{one.Name} expects a syntax error, but Microsoft's parser accepts it");
            else
                report.Add(one.File, one.Line + errors[0].Line - 1, Rule, $"{one.Name} is meant to parse, but Microsoft's parser says: {errors[0].Message}");
        }

        static IEnumerable<Case> Read(string file, string text)
        {
            var lines = text.Replace("\r\n", "\n").Split('\n');
            Case open = null;
            var body = new List<string>();
            for (var i = 0; i <= lines.Length; i++)
            {
                var start = i < lines.Length ? Regex.Match(lines[i], @"^--\s*case:\s*(.+?)\s*$") : null;
                if (open != null && (start == null || start.Success))
                {
                    open.Text = string.Join("\n", body);
                    yield return open;
                }
                if (start == null) break;
                if (start.Success)
                {
                    open = new Case { File = file, Line = i + 1, Name = start.Groups[1].Value };
                    body.Clear();
                }
                body.Add(lines[i]);
                var expected = Regex.Match(lines[i], @"^--\s*expect:?\s+error\s+(\d+)");
                if (open != null && expected.Success && SyntaxNumbers.Contains(int.Parse(expected.Groups[1].Value)))
                    open.ExpectsSyntaxError = true;
            }
        }

        // One difference per line, `file.sql: case name | why`; a line that begins with # is a comment.
        static Dictionary<string, int> Differences(Repository repository)
        {
            var listed = new Dictionary<string, int>();
            if (!File.Exists(repository.Full(DifferencesFile))) return listed;
            var lines = repository.Read(DifferencesFile).Split('\n');
            for (var i = 0; i < lines.Length; i++)
            {
                var parts = lines[i].Split(new[] { '|' }, 2);
                if (!lines[i].StartsWith("#") && parts.Length == 2) listed[parts[0].Trim()] = i + 1;
            }
            return listed;
        }
    }
}
