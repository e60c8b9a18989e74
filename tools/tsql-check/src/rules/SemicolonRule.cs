// Every statement ends with a semicolon: THROW and WITH misread what stands before them without one.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class SemicolonRule : Rule
    {
        public override string Name => "semicolon";

        public override void Visit(StatementList node)
        {
            foreach (var statement in node.Statements) Check(statement);
        }

        public override void Visit(TSqlBatch node)
        {
            foreach (var statement in node.Statements) Check(statement);
        }

        // IF and WHILE end where their last block ends, and that END carries the semicolon.
        void Check(TSqlStatement statement)
        {
            if (statement is LabelStatement) return;
            var tokens = statement.ScriptTokenStream;
            var last = statement.LastTokenIndex;
            if (tokens[last].TokenType == TSqlTokenType.Semicolon) return;
            var next = last + 1;
            while (next < tokens.Count && Tokens.IsTrivia(tokens[next])) next++;
            if (next < tokens.Count && tokens[next].TokenType == TSqlTokenType.Semicolon) return;
            FoundAt(Script.LineOffset + tokens[last].Line, "the statement does not end with a semicolon");
        }
    }
}
