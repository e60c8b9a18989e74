// A piece of T-SQL under check: where it comes from, what it is for, and its syntax tree.
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    enum ScriptKind
    {
        /// <summary>migrations/NNNN_*.sql: tables and indexes.</summary>
        Tables,
        /// <summary>migrations/procedures/*.sql: one procedure each.</summary>
        Procedure,
        /// <summary>migrations/views/*.sql: one view each.</summary>
        View,
        /// <summary>Any other file of migrations/: permissions, teardown.</summary>
        Other,
        /// <summary>T-SQL shown in Markdown, or printed by the installer: only its syntax is checked.</summary>
        SyntaxOnly,
    }

    sealed class Script
    {
        /// <summary>The schema's name that takes the place of `$(schema)` before parsing.</summary>
        public const string Schema = "dx";

        public readonly string File;
        public readonly ScriptKind Kind;
        public readonly string Text;
        /// <summary>Lines of the file that come before the first line of Text (Markdown blocks).</summary>
        public readonly int LineOffset;
        /// <summary>Null until the syntax check succeeded with every parser.</summary>
        public TSqlScript Tree;

        public Script(string file, ScriptKind kind, string text, int lineOffset = 0)
        {
            File = file;
            Kind = kind;
            LineOffset = lineOffset;
            Text = Substitute(text);
        }

        public int Line(TSqlFragment fragment) => LineOffset + fragment.StartLine;

        /// <summary>The procedure a procedure file creates; null when it has none.</summary>
        public ProcedureStatementBody Procedure =>
            Tree?.Batches.SelectMany(b => b.Statements).OfType<ProcedureStatementBody>().FirstOrDefault();

        /// <summary>The view a view file creates; null when it has none.</summary>
        public ViewStatementBody View =>
            Tree?.Batches.SelectMany(b => b.Statements).OfType<ViewStatementBody>().FirstOrDefault();

        /// <summary>The view's name, or the empty string.</summary>
        public string ViewName => View?.SchemaObjectName.BaseIdentifier.Value ?? "";

        /// <summary>The procedure's name, or the empty string.</summary>
        public string ProcedureName => Procedure?.ProcedureReference.Name.BaseIdentifier.Value ?? "";

        /// <summary>`_name.sql` is called by other procedures only, so it may run inside their transaction.</summary>
        public bool IsHelper => ProcedureName.StartsWith("_");

        /// <summary>Puts names in the place of sqlcmd variables. None spans lines, so line numbers survive.</summary>
        public static string Substitute(string text) =>
            Regex.Replace(text.Replace("\r\n", "\n"), @"\$\((\w+)\)", m => m.Groups[1].Value == "schema" ? Schema : m.Groups[1].Value);
    }
}
