// CREATE SCHEMA must be alone in its batch, so a script that runs twice can only reach it through EXEC of a literal.
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    static class SchemaCreation
    {
        /// <summary>The one CREATE SCHEMA inside `EXEC (N'…')`, or null when the statement is anything else.</summary>
        public static CreateSchemaStatement In(ExecuteStatement statement)
        {
            var strings = statement.ExecuteSpecification.ExecutableEntity as ExecutableStringList;
            if (strings == null || strings.Strings.Count != 1) return null;
            var literal = strings.Strings[0] as StringLiteral;
            var tree = literal == null ? null : Syntax.TryParse(literal.Value);
            var statements = tree?.Batches.SelectMany(b => b.Statements).ToList();
            return statements != null && statements.Count == 1 ? statements[0] as CreateSchemaStatement : null;
        }
    }
}
