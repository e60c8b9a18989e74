// T-SQL shown in README.md and docs: the fenced blocks marked `sql` and nothing more. Blocks with a second word
// (`sql refused`) hold statements that a test of the engine runs one by one.
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

namespace TsqlCheck
{
    static class Markdown
    {
        public static IEnumerable<Script> Blocks(string file, string text)
        {
            var lines = text.Replace("\r\n", "\n").Split('\n');
            for (var i = 0; i < lines.Length; i++)
            {
                if (!Regex.IsMatch(lines[i], @"^\s*```\s*(sql|tsql|t-sql)\s*$", RegexOptions.IgnoreCase)) continue;
                var start = i + 1;
                var end = start;
                while (end < lines.Length && !lines[end].TrimStart().StartsWith("```")) end++;
                var block = string.Join("\n", lines.Skip(start).Take(end - start));
                yield return new Script(file, ScriptKind.SyntaxOnly, Sqlcmd.BlankDirectives(block), start);
                i = end;
            }
        }
    }

    static class Sqlcmd
    {
        /// <summary>Empties the lines that sqlcmd itself obeys (`:setvar`, `:on error exit`), which are not T-SQL.</summary>
        public static string BlankDirectives(string text) =>
            string.Join("\n", text.Split('\n').Select(line => Regex.IsMatch(line, @"^\s*:(setvar|on error|r)\b", RegexOptions.IgnoreCase) ? "" : line));
    }
}
