// The comment above a procedure or a view: a sentence, then the fields Callers, Locks, Throws and, where needed, Order; or Readers and Units.
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class Header
    {
        static readonly string[] FieldNames = { "Callers", "Locks", "Throws", "Order", "Readers", "Units" };

        readonly Dictionary<string, string> texts = new Dictionary<string, string>();
        readonly Dictionary<string, int> lines = new Dictionary<string, int>();

        /// <summary>The first comment line's words, without the dashes.</summary>
        public string FirstLine { get; private set; } = "";

        /// <summary>The field's text, continuation lines joined; null when the header lacks it.</summary>
        public string this[string field] => texts.TryGetValue(field, out var text) ? text : null;

        /// <summary>Where a field stands, or the given line when it is missing.</summary>
        public int LineOf(string field, int otherwise) => lines.TryGetValue(field, out var line) ? line : otherwise;

        public static Header Of(Script script)
        {
            var header = new Header();
            var definition = (TSqlFragment)script.Procedure ?? script.View;
            var comments = script.Tree.ScriptTokenStream
                .Take(definition.FirstTokenIndex)
                .Where(t => t.TokenType == TSqlTokenType.SingleLineComment);
            string open = null;
            foreach (var token in comments)
            {
                var text = token.Text.Substring(2).TrimEnd();
                if (header.FirstLine == "") header.FirstLine = text.Trim();
                var field = Regex.Match(text, @"^ ?(\w+)\s{2,}(\S.*)$");
                if (field.Success && FieldNames.Contains(field.Groups[1].Value))
                {
                    open = field.Groups[1].Value;
                    header.texts[open] = field.Groups[2].Value;
                    header.lines[open] = script.LineOffset + token.Line;
                }
                else if (open != null && Regex.IsMatch(text, @"^\s{3,}\S"))
                {
                    header.texts[open] += "\n" + text.Trim();
                }
                else
                {
                    open = null;
                }
            }
            return header;
        }
    }
}
