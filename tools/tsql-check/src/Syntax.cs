// Microsoft's parsers of SQL Server 2017 and 2019 read every script.
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    static class Syntax
    {
        public const string Rule = "syntax";

        static readonly KeyValuePair<string, TSqlParser>[] Parsers =
        {
            new KeyValuePair<string, TSqlParser>("SQL Server 2017", new TSql140Parser(initialQuotedIdentifiers: true)),
            new KeyValuePair<string, TSqlParser>("SQL Server 2019", new TSql150Parser(initialQuotedIdentifiers: true)),
        };

        /// <summary>Parses with every parser, reports what each refuses, and keeps the tree when none did.</summary>
        public static void Check(Script script, Report report)
        {
            TSqlFragment tree = null;
            var refusals = new List<KeyValuePair<string, ParseError>>();
            foreach (var parser in Parsers)
            {
                tree = parser.Value.Parse(new StringReader(script.Text), out var errors);
                refusals.AddRange(errors.Select(e => new KeyValuePair<string, ParseError>(parser.Key, e)));
            }
            // The parser adds this at the end of the file when it has already refused something above.
            if (refusals.Any(r => !IsAftermath(r.Value))) refusals.RemoveAll(r => IsAftermath(r.Value));
            foreach (var same in refusals.GroupBy(r => new { r.Value.Line, r.Value.Message }))
            {
                var who = string.Join(" and ", same.Select(r => r.Key).Distinct());
                report.Add(script.File, script.LineOffset + same.Key.Line, Rule, $"{who}: {same.Key.Message}");
            }
            if (refusals.Count == 0) script.Tree = (TSqlScript)tree;
        }

        static bool IsAftermath(ParseError error) => error.Message == "An internal parser error occurred.";

        /// <summary>Parses with the newest parser only; null when it refuses.</summary>
        public static TSqlScript TryParse(string text)
        {
            var tree = Parsers.Last().Value.Parse(new StringReader(text), out var errors);
            return errors.Count == 0 ? (TSqlScript)tree : null;
        }

        /// <summary>What the parsers say of a text: one line per refusal, none when both accept it.</summary>
        public static IList<ParseError> Errors(string text)
        {
            var all = new List<ParseError>();
            foreach (var parser in Parsers)
            {
                parser.Value.Parse(new StringReader(text), out var errors);
                all.AddRange(errors);
            }
            return all;
        }
    }
}
