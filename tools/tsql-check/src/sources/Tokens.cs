// Small reading aids over ScriptDom fragments.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    static class Tokens
    {
        public static IEnumerable<TSqlParserToken> Of(TSqlFragment fragment)
        {
            for (var i = fragment.FirstTokenIndex; i <= fragment.LastTokenIndex; i++)
                yield return fragment.ScriptTokenStream[i];
        }

        public static bool IsTrivia(TSqlParserToken token) =>
            token.TokenType == TSqlTokenType.WhiteSpace ||
            token.TokenType == TSqlTokenType.SingleLineComment ||
            token.TokenType == TSqlTokenType.MultilineComment;

        /// <summary>The fragment's text on one line, comments left out.</summary>
        public static string Flat(TSqlFragment fragment)
        {
            var text = new StringBuilder();
            foreach (var token in Of(fragment))
                text.Append(IsTrivia(token) ? " " : token.Text);
            return text.ToString();
        }

        /// <summary>An identifier token's name without brackets or quotes.</summary>
        public static string Name(TSqlParserToken token) =>
            token.TokenType == TSqlTokenType.QuotedIdentifier && token.Text.Length >= 2
                ? token.Text.Substring(1, token.Text.Length - 2).Replace("]]", "]")
                : token.Text;

        public static bool Same(string a, string b) => string.Equals(a, b, StringComparison.OrdinalIgnoreCase);

        public static string Join(SchemaObjectName name) => string.Join(".", name.Identifiers.Select(i => i.Value));
    }

    /// <summary>Collects every fragment of one type below a node.</summary>
    sealed class Collector<T> : TSqlFragmentVisitor where T : TSqlFragment
    {
        readonly List<T> found = new List<T>();

        public override void Visit(TSqlFragment node)
        {
            if (node is T wanted) found.Add(wanted);
        }

        public static List<T> In(TSqlFragment root)
        {
            var collector = new Collector<T>();
            root?.Accept(collector);
            return collector.found;
        }
    }
}
