// One CREATE or GRANT of the migrations, as the schema compiler takes it.
using System.Collections.Generic;
using System.Linq;
using System.Text;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class Definition
    {
        public readonly Script Script;
        public readonly TSqlStatement Statement;
        readonly int line;
        /// <summary>Columns and constraints that later migrations added, spliced in before the last parenthesis.</summary>
        public readonly List<string> Additions = new List<string>();

        public Definition(Script script, TSqlStatement statement, int line)
        {
            Script = script;
            Statement = statement;
            this.line = line;
        }

        /// <summary>A name under which the compiler files its complaints; unique per definition.</summary>
        public string Source => $"{Script.File}#{Statement.StartOffset}";

        /// <summary>
        /// The statement's text, pushed down to its own line so that the compiler's line numbers are the file's,
        /// and with CREATE OR ALTER reduced to the CREATE that the model knows.
        /// </summary>
        public string ModelText()
        {
            var text = new StringBuilder(new string('\n', line - 1));
            var table = (Statement as CreateTableStatement)?.Definition;
            var inHead = true;
            for (var i = Statement.FirstTokenIndex; i <= Statement.LastTokenIndex; i++)
            {
                var token = Statement.ScriptTokenStream[i];
                if (token.TokenType == TSqlTokenType.Procedure || token.TokenType == TSqlTokenType.Proc
                    || token.TokenType == TSqlTokenType.View) inHead = false;
                var orAlter = token.TokenType == TSqlTokenType.Or || token.TokenType == TSqlTokenType.Alter;
                var isOrAlter = Statement is CreateOrAlterProcedureStatement || Statement is CreateOrAlterViewStatement;
                text.Append(inHead && orAlter && isOrAlter ? "" : token.Text);
                if (table != null && i == table.LastTokenIndex)
                    foreach (var addition in Additions) text.Append(", ").Append(addition);
            }
            return text.ToString();
        }

        /// <summary>The line of the innermost statement that mentions all the names, at the last one; the definition's own line otherwise.</summary>
        public int LineOfReference(IList<string> names)
        {
            var statements = Collector<TSqlStatement>.In(Statement)
                .OrderBy(s => s.LastTokenIndex - s.FirstTokenIndex)
                .ThenBy(s => s.FirstTokenIndex);
            foreach (var statement in statements)
            {
                var tokens = Tokens.Of(statement).Where(t => !Tokens.IsTrivia(t)).ToList();
                if (!names.All(n => tokens.Any(t => Tokens.Same(Tokens.Name(t), n)))) continue;
                var at = tokens.First(t => Tokens.Same(Tokens.Name(t), names.Last()));
                return at.Line + Script.LineOffset + (line - Statement.StartLine);
            }
            return line;
        }
    }
}
