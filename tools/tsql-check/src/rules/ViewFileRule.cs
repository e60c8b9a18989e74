// A view file is one batch with one CREATE OR ALTER VIEW, named as the file, under a header that says who reads it.
using System.IO;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class ViewFileRule : Rule
    {
        const int LinesMax = 250;

        public override string Name => "view-file";

        protected override void CheckScript()
        {
            if (Script.Kind != ScriptKind.View)
            {
                foreach (var stray in Collector<ViewStatementBody>.In(Script.Tree))
                    Found(stray, "views belong in migrations/views, one per file");
                return;
            }
            var lines = Script.Text.TrimEnd('\n').Split('\n').Length;
            if (lines > LinesMax) FoundAt(LinesMax + 1, $"the file has {lines} lines, more than {LinesMax}; build it on another view");
            var statements = Script.Tree.Batches.SelectMany(b => b.Statements).ToList();
            var wanted = Path.GetFileNameWithoutExtension(Script.File);
            if (Script.Tree.Batches.Count != 1 || statements.Count != 1 || !(statements[0] is CreateOrAlterViewStatement))
            {
                FoundAt(statements.Count > 0 ? Script.Line(statements.Last()) : 1, "the file is not exactly one CREATE OR ALTER VIEW");
                return;
            }
            if (Script.ViewName != wanted) Found(Script.View, $"the view is named {Script.ViewName}, its file {wanted}");
            var header = Header.Of(Script);
            foreach (var field in new[] { "Readers", "Units" })
                if (header[field] == null) Found(Script.View, $"the header has no line {field}");
        }
    }
}
