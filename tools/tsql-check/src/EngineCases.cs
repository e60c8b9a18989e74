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

        // The numbers with which SQL Server's own parser refuses a batch before it looks at any object.
        static readonly int[] SyntaxNumbers = { 102, 103, 105, 111, 113, 119, 156, 319, 321, 336, 1018 };

        sealed class Batch
        {
            public string File;
            public string Case;
            /// <summary>The line before the batch's first one.</summary>
            public int LineOffset;
            public readonly List<string> Lines = new List<string>();
            /// <summary>The number of the first error that is expected; null when the batch is meant to succeed.</summary>
            public int? Error;
            public int Severity;

            public string Title => $"{Path.GetFileNameWithoutExtension(File)}/{Case}";

            public bool MustBeRefused => Error != null && SyntaxNumbers.Contains(Error.Value);

            // Severity 15 is given while compiling. Microsoft's parser finds some of these errors and leaves the others to the server.
            public bool MayBeRefused => MustBeRefused || Severity == 15;
        }

        public static IEnumerable<string> Files(Repository repository) =>
            repository.Files(Folder, "*.sql").Concat(repository.Files(Folder, Path.GetFileName(DifferencesFile)));

        public static void Check(Repository repository, Report report)
        {
            var explained = Differences(repository);
            var met = new HashSet<string>();
            foreach (var file in repository.Files(Folder, "*.sql"))
                foreach (var batch in Read(file, repository.Read(file)))
                    Check(batch, explained, met, report);
            var topics = repository.Files(Folder, "*.sql").Select(Path.GetFileNameWithoutExtension).ToList();
            foreach (var stale in explained.Where(e => !met.Contains(e.Key) && topics.Contains(e.Key.Split('/')[0])))
                report.Add(DifferencesFile, stale.Value, Rule, "this difference no longer exists, or its topic has no such case");
        }

        static void Check(Batch batch, Dictionary<string, int> explained, HashSet<string> met, Report report)
        {
            var errors = Syntax.Errors(Script.Substitute(string.Join("\n", batch.Lines)));
            if (errors.Any() ? batch.MayBeRefused : !batch.MustBeRefused) return;
            met.Add(batch.Title);
            if (explained.ContainsKey(batch.Title)) return;
            var first = errors.FirstOrDefault();
            report.Add(batch.File, batch.LineOffset + (first?.Line ?? 1), Rule, first == null
                ? $"{batch.Title} expects error {batch.Error}, but Microsoft's parser accepts the batch"
                : $"{batch.Title} is meant to parse, but Microsoft's parser says: {first.Message}");
        }

        // `-- case: name` begins a case, GO on a line of its own ends a batch, and expectations belong to the batch they stand in.
        static IEnumerable<Batch> Read(string file, string text)
        {
            var lines = text.Replace("\r\n", "\n").Split('\n');
            var name = "";
            Batch open = null;
            for (var i = 0; i < lines.Length; i++)
            {
                var start = Regex.Match(lines[i], @"^-- case:\s*(.+?)\s*$");
                if (start.Success || Regex.IsMatch(lines[i], @"^\s*GO\s*$", RegexOptions.IgnoreCase))
                {
                    if (open != null) yield return open;
                    if (start.Success) name = start.Groups[1].Value;
                    open = name == "" ? null : new Batch { File = file, Case = name, LineOffset = i + 1 };
                    continue;
                }
                if (open == null) continue;
                // An expectation may quote what would close an open string or comment, so the parser does not see it.
                var isExpectation = Regex.IsMatch(lines[i], @"^\s*-- expect ");
                open.Lines.Add(isExpectation ? "" : lines[i]);
                var expected = Regex.Match(lines[i], @"^\s*-- expect error (\d+) (\d+)");
                if (!expected.Success || open.Error != null) continue;
                open.Error = int.Parse(expected.Groups[1].Value);
                open.Severity = int.Parse(expected.Groups[2].Value);
            }
            if (open != null) yield return open;
        }

        // One difference per line, `topic/case | why`; a line that begins with # is a comment.
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
