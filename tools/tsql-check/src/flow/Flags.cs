// Local variables that only ever hold literals, such as @done BIT = 0, and their values on one path.
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    /// <summary>An immutable set of `name=value`, kept as sorted text so that equal sets are equal.</summary>
    struct Flags : IEquatable<Flags>
    {
        public static readonly Flags None = new Flags("");

        readonly string text;

        Flags(string text) { this.text = text; }

        IEnumerable<string> Entries => (text ?? "").Split(new[] { ';' }, StringSplitOptions.RemoveEmptyEntries);

        /// <summary>The flag's value on this path, or null when it is not known.</summary>
        public int? this[string name]
        {
            get
            {
                var prefix = name.ToLowerInvariant() + "=";
                var entry = Entries.FirstOrDefault(e => e.StartsWith(prefix, StringComparison.Ordinal));
                return entry == null ? (int?)null : int.Parse(entry.Substring(prefix.Length));
            }
        }

        public Flags With(string name, int value)
        {
            var prefix = name.ToLowerInvariant() + "=";
            var others = Entries.Where(e => !e.StartsWith(prefix, StringComparison.Ordinal));
            return new Flags(string.Join(";", others.Concat(new[] { prefix + value }).OrderBy(e => e, StringComparer.Ordinal)));
        }

        public bool Equals(Flags other) => (text ?? "") == (other.text ?? "");
        public override bool Equals(object other) => other is Flags flags && Equals(flags);
        public override int GetHashCode() => (text ?? "").GetHashCode();
    }

    static class FlagVariables
    {
        /// <summary>The variables of a procedure whose every assignment is a literal.</summary>
        public static HashSet<string> Of(ProcedureStatementBody procedure)
        {
            var names = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
            foreach (var declared in Collector<DeclareVariableElement>.In(procedure.StatementList))
                if (declared.Value == null || declared.Value is IntegerLiteral) names.Add(declared.VariableName.Value);
            foreach (var set in Collector<SetVariableStatement>.In(procedure))
                if (!(set.Expression is IntegerLiteral)) names.Remove(set.Variable.Name);
            foreach (var select in Collector<SelectSetVariable>.In(procedure)) names.Remove(select.Variable.Name);
            foreach (var update in Collector<AssignmentSetClause>.In(procedure))
                if (update.Variable != null) names.Remove(update.Variable.Name);
            foreach (var argument in Collector<ExecuteParameter>.In(procedure))
                if (argument.IsOutput && argument.ParameterValue is VariableReference output) names.Remove(output.Name);
            foreach (var call in Collector<ExecuteSpecification>.In(procedure))
                if (call.Variable != null) names.Remove(call.Variable.Name);
            return names;
        }

        /// <summary>The state after a SET or DECLARE of flags; the same state after anything else.</summary>
        public static FlowState After(TSqlStatement statement, FlowState state, HashSet<string> names)
        {
            if (statement is SetVariableStatement set && names.Contains(set.Variable.Name))
                return state.WithFlags(state.Flags.With(set.Variable.Name, int.Parse(((IntegerLiteral)set.Expression).Value)));
            if (!(statement is DeclareVariableStatement declare)) return state;
            foreach (var variable in declare.Declarations)
                if (names.Contains(variable.VariableName.Value) && variable.Value is IntegerLiteral literal && int.TryParse(literal.Value, out var value))
                    state = state.WithFlags(state.Flags.With(variable.VariableName.Value, value));
            return state;
        }
    }
}
