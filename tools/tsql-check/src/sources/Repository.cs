// Which files of a folder are checked, and as what.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;

namespace TsqlCheck
{
    sealed class Repository
    {
        public readonly string Root;
        public readonly List<Script> Scripts = new List<Script>();
        public readonly ErrorTable Errors;

        public Repository(string root, IEnumerable<string> generated)
        {
            Root = root;
            foreach (var path in Files("migrations", "*.sql"))
                Scripts.Add(new Script(path, KindOf(path), Read(path)));
            foreach (var path in MarkdownFiles())
                Scripts.AddRange(Markdown.Blocks(path, Read(path)));
            foreach (var path in generated)
                Scripts.Add(new Script("(generated) " + Path.GetFileName(path), ScriptKind.SyntaxOnly, Sqlcmd.BlankDirectives(File.ReadAllText(path))));
            Errors = ErrorTable.Load(Full("docs/errors.md"), "docs/errors.md");
        }

        public IEnumerable<Script> Migrations => Scripts.Where(s => s.Kind != ScriptKind.SyntaxOnly);

        public IEnumerable<Script> Procedures => Scripts.Where(s => s.Procedure != null);

        public IEnumerable<Script> Views => Scripts.Where(s => s.Kind == ScriptKind.View && s.View != null);

        public Script ProcedureNamed(string name) => Procedures.FirstOrDefault(s => s.ProcedureName == name);

        public string Full(string relative) => Path.Combine(Root, relative);

        public string Read(string relative) => File.ReadAllText(Full(relative));

        /// <summary>The files below a folder, relative to the root, in a fixed order; none when the folder is absent.</summary>
        public IEnumerable<string> Files(string folder, string pattern)
        {
            if (!Directory.Exists(Full(folder))) return Enumerable.Empty<string>();
            return Directory.GetFiles(Full(folder), pattern, SearchOption.AllDirectories)
                .Select(p => p.Substring(Root.Length).TrimStart('/'))
                .OrderBy(p => p, StringComparer.Ordinal);
        }

        IEnumerable<string> MarkdownFiles() =>
            Directory.GetFiles(Root, "*.md").Select(Path.GetFileName).OrderBy(p => p, StringComparer.Ordinal)
                .Concat(Files("docs", "*.md")).Concat(Files("migrations", "*.md"))
                .Concat(new[] { "mssql-embedded/README.md", "sql-stress/README.md" }.Where(p => File.Exists(Full(p))));

        static ScriptKind KindOf(string path)
        {
            if (path.StartsWith("migrations/procedures/")) return ScriptKind.Procedure;
            if (path.StartsWith("migrations/views/")) return ScriptKind.View;
            return Regex.IsMatch(path, @"^migrations/\d{4}_\w+\.sql$") ? ScriptKind.Tables : ScriptKind.Other;
        }
    }
}
