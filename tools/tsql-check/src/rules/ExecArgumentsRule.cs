// A call between our procedures names its arguments, names only existing ones and gives all that have no default.
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class ExecArgumentsRule : Rule
    {
        public override string Name => "exec-arguments";

        public override void Visit(ExecutableProcedureReference node)
        {
            var name = node.ProcedureReference.ProcedureReference?.Name.BaseIdentifier.Value;
            var callee = Repository.ProcedureNamed(name)?.Procedure;
            if (callee == null) return;
            foreach (var argument in node.Parameters.Where(p => p.Variable == null))
                Found(argument, $"an argument of {name} is given by position; name it");
            var given = node.Parameters.Where(p => p.Variable != null).Select(p => p.Variable.Name).ToList();
            foreach (var unknown in given.Where(g => !callee.Parameters.Any(p => Tokens.Same(p.VariableName.Value, g))))
                Found(node, $"{name} has no parameter {unknown}");
            foreach (var missing in callee.Parameters.Where(p => p.Value == null && !given.Any(g => Tokens.Same(g, p.VariableName.Value))))
                Found(node, $"{name} needs its parameter {missing.VariableName.Value}");
        }
    }
}
