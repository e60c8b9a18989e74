// The comment above a procedure says who calls it, what it locks and what it throws, and says it truly.
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class HeaderRule : Rule
    {
        public override string Name => "header";

        Header header;
        int top;

        protected override void CheckScript()
        {
            if (Script.Procedure == null || Script.Kind != ScriptKind.Procedure) return;
            header = Header.Of(Script);
            top = Script.Line(Script.Procedure);
            if (header.FirstLine == "") FoundAt(top, "the procedure has no header comment");
            foreach (var field in new[] { "Callers", "Locks", "Throws" })
                if (header.FirstLine != "" && header[field] == null) FoundAt(top, $"the header has no line {field}");
            if (header["Callers"] != null) CheckCallers();
            if (header["Locks"] != null) CheckLocks();
            if (header["Throws"] != null) CheckThrows();
        }

        // A helper that nearly all use says "every procedure that …" instead of naming thirty.
        void CheckCallers()
        {
            var methods = Regex.Matches(header["Callers"], @"\bProvider(?:Admin)?::(\w+)").Cast<Match>().Select(m => m.Groups[1].Value).ToList();
            if (methods.Count > 0 && !methods.Contains(Script.ProcedureName))
                Complain("Callers", $"Callers names trait methods, but not the one called {Script.ProcedureName}");
            if (Regex.IsMatch(header["Callers"], @"^every procedure\b", RegexOptions.IgnoreCase)) return;
            var callers = Repository.Procedures
                .Where(s => s != Script && Access.Of(s.Procedure).Called.Contains(Script.ProcedureName))
                .Select(s => s.ProcedureName);
            foreach (var caller in callers.Where(c => !Mentions("Callers", c)))
                Complain("Callers", $"Callers does not name {caller}, which executes it");
        }

        void CheckLocks()
        {
            var own = Access.Of(Script.Procedure);
            var all = Access.WithCallees(Script.Procedure, Repository);
            foreach (var table in own.Held.Where(t => !Mentions("Locks", t)))
                Complain("Locks", $"Locks does not name {table}, which the procedure locks");
            foreach (var helper in own.Called.Where(c => !Mentions("Locks", c)))
                foreach (var table in HeldBy(helper).Where(t => !Mentions("Locks", t)))
                    Complain("Locks", $"Locks names neither {helper} nor {table}, which it locks");
            foreach (var table in Shapes.Tables(Repository).Keys.Where(t => Mentions("Locks", t) && !all.Touched.Contains(t)))
                Complain("Locks", $"Locks names {table}, which the procedure does not touch");
        }

        IEnumerable<string> HeldBy(string procedure)
        {
            var callee = Repository.ProcedureNamed(procedure)?.Procedure;
            return callee == null ? Enumerable.Empty<string>() : Access.WithCallees(callee, Repository).Held;
        }

        void CheckThrows()
        {
            var said = Regex.Matches(header["Throws"], @"\b51\d{3}\b").Cast<Match>().Select(m => m.Value).ToList();
            var thrown = Thrown(Script.Procedure)
                .Concat(Access.WithCallees(Script.Procedure, Repository).Called
                    .Select(c => Repository.ProcedureNamed(c)?.Procedure)
                    .Where(p => p != null).SelectMany(Thrown))
                .Distinct().ToList();
            foreach (var number in thrown.Except(said)) Complain("Throws", $"Throws does not list {number}, which the procedure throws");
            foreach (var number in said.Except(thrown)) Complain("Throws", $"Throws lists {number}, which the procedure does not throw");
        }

        static IEnumerable<string> Thrown(TSqlFragment procedure) =>
            Collector<ThrowStatement>.In(procedure).Select(t => (t.ErrorNumber as IntegerLiteral)?.Value).Where(n => n != null);

        bool Mentions(string field, string word) => Regex.IsMatch(header[field], $@"(?<!\w){Regex.Escape(word)}(?!\w)", RegexOptions.IgnoreCase);

        void Complain(string field, string reason) => FoundAt(header.LineOf(field, top), reason);
    }
}
