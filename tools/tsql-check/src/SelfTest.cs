// Checks the check: a folder of deliberately wrong scripts, each of which says on the wrong line what must be reported there.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;

namespace TsqlCheck
{
    /// <summary>
    /// A marker is `-- wrong: rule: part of the reason` at the end of a line (`&lt;!-- wrong: … --&gt;` in Markdown, `# wrong: …`
    /// in text). Markers are removed before the check reads the files. Findings and markers must agree one to one, so a rule that
    /// stays silent, a rule that fires on a right script and a wrong line number all fail.
    /// </summary>
    static class SelfTest
    {
        static readonly Regex Marker = new Regex(@"\s*(?:--|<!--|#) wrong: ([\w-]+): ((?:(?!(?:--|#) wrong: ).)+?)(?: -->)?$");

        public static int Run(string folder, string scratch)
        {
            if (Directory.Exists(scratch)) Directory.Delete(scratch, true);
            var expected = CopyWithoutMarkers(folder, scratch);
            var report = new Report();
            Checker.Run(scratch, Enumerable.Empty<string>(), report);

            var failures = new List<string>();
            foreach (var finding in report.Sorted())
            {
                var marker = expected.FirstOrDefault(e => e.File == finding.File && e.Line == finding.Line
                    && e.Rule == finding.Rule && finding.Reason.Contains(e.Reason));
                if (marker == null) failures.Add($"{finding} (reported, but no marker expects it)");
                else expected.Remove(marker);
                if (marker != null) Console.WriteLine($"reported as it should: {finding}");
            }
            failures.AddRange(expected.Select(e => $"{e} (expected, but not reported)"));
            failures.AddRange(Checker.RuleNames().Except(Rules(folder)).Select(r => $"no wrong script shows the rule {r}"));

            foreach (var failure in failures) Console.WriteLine(failure);
            Console.WriteLine(failures.Count == 0 ? "tsql-check self-test: every wrong script was reported" : $"tsql-check self-test: {failures.Count} failures");
            return failures.Count == 0 ? 0 : 1;
        }

        static List<Finding> CopyWithoutMarkers(string folder, string scratch)
        {
            var expected = new List<Finding>();
            foreach (var path in AllFiles(folder))
            {
                var relative = path.Substring(folder.Length).TrimStart('/');
                var lines = File.ReadAllLines(path);
                for (var i = 0; i < lines.Length; i++)
                {
                    for (var marker = Marker.Match(lines[i]); marker.Success; marker = Marker.Match(lines[i]))
                    {
                        expected.Add(new Finding(relative, i + 1, marker.Groups[1].Value, marker.Groups[2].Value));
                        lines[i] = lines[i].Substring(0, marker.Index);
                    }
                }
                var copy = Path.Combine(scratch, relative);
                Directory.CreateDirectory(Path.GetDirectoryName(copy));
                File.WriteAllLines(copy, lines);
            }
            return expected;
        }

        static IEnumerable<string> Rules(string folder) =>
            AllFiles(folder).SelectMany(File.ReadAllLines).SelectMany(l => Regex.Matches(l, @" wrong: ([\w-]+):").Cast<Match>()).Select(m => m.Groups[1].Value);

        static IEnumerable<string> AllFiles(string folder) =>
            Directory.GetFiles(folder, "*", SearchOption.AllDirectories).OrderBy(p => p, StringComparer.Ordinal);
    }
}
