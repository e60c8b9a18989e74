// A procedure file is one batch with one CREATE OR ALTER PROCEDURE, named as the file.
using System.IO;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class ProcedureFileRule : Rule
    {
        // Longer than this, steps move into helpers.
        const int LinesMax = 250;

        public override string Name => "procedure-file";

        protected override void CheckScript()
        {
            if (Script.Kind != ScriptKind.Procedure)
            {
                foreach (var stray in Collector<ProcedureStatementBody>.In(Script.Tree))
                    Found(stray, "procedures belong in migrations/procedures, one per file");
                return;
            }
            var lines = Script.Text.TrimEnd('\n').Split('\n').Length;
            if (lines > LinesMax) FoundAt(LinesMax + 1, $"the file has {lines} lines, more than {LinesMax}; move steps into helpers");
            var statements = Script.Tree.Batches.SelectMany(b => b.Statements).ToList();
            var wanted = Path.GetFileNameWithoutExtension(Script.File);
            if (Script.Tree.Batches.Count != 1 || statements.Count != 1 || !(statements[0] is CreateOrAlterProcedureStatement))
                FoundAt(statements.Count > 0 ? Script.Line(statements.Last()) : 1, "the file is not exactly one CREATE OR ALTER PROCEDURE");
            else if (Script.ProcedureName != wanted)
                Found(Script.Procedure, $"the procedure is named {Script.ProcedureName}, its file {wanted}");
        }
    }
}
