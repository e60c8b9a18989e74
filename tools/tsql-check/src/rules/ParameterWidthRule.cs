// A value longer than its parameter is cut without a word, so parameters are wider than the columns they meet.
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    /// <summary>
    /// Covers comparison, IN, LIKE, assignment and INSERT. A parameter must be wider, so that the length check can see
    /// one character too many; a local variable, filled from columns, at least as wide.
    /// </summary>
    sealed class ParameterWidthRule : ScopedRule
    {
        readonly Dictionary<string, DataTypeReference> parameters = new Dictionary<string, DataTypeReference>(StringComparer.OrdinalIgnoreCase);
        readonly Dictionary<string, DataTypeReference> locals = new Dictionary<string, DataTypeReference>(StringComparer.OrdinalIgnoreCase);

        public override string Name => "parameter-width";

        protected override void CheckScript()
        {
            parameters.Clear();
            locals.Clear();
            if (Script.Procedure == null) return;
            foreach (var parameter in Script.Procedure.Parameters) parameters[parameter.VariableName.Value] = parameter.DataType;
            foreach (var local in Collector<DeclareVariableElement>.In(Script.Procedure.StatementList))
                locals[local.VariableName.Value] = local.DataType;
            base.CheckScript();
        }

        public override void Visit(BooleanComparisonExpression node)
        {
            Meet(node.FirstExpression, node.SecondExpression);
            Meet(node.SecondExpression, node.FirstExpression);
        }

        public override void Visit(LikePredicate node) => Meet(node.FirstExpression, node.SecondExpression);

        public override void Visit(InPredicate node)
        {
            foreach (var value in node.Values) Meet(node.Expression, value);
        }

        public override void Visit(AssignmentSetClause node)
        {
            if (node.Column != null) Meet(node.Column, node.NewValue);
        }

        protected override void OnInsert(InsertSpecification node)
        {
            if (node.InsertSource is ValuesInsertSource values)
                foreach (var row in values.RowValues) Pair(node.Columns, row.ColumnValues);
            if (node.InsertSource is SelectInsertSource select && select.Select is QuerySpecification query)
                Pair(node.Columns, query.SelectElements.Select(e => (e as SelectScalarExpression)?.Expression).ToList());
        }

        void Pair(IList<ColumnReferenceExpression> columns, IList<ScalarExpression> values)
        {
            for (var i = 0; i < columns.Count && i < values.Count; i++) Meet(columns[i], values[i]);
        }

        void Meet(ScalarExpression columnSide, ScalarExpression valueSide)
        {
            var variable = Bare(valueSide) as VariableReference;
            var column = Bare(columnSide) as ColumnReferenceExpression;
            if (variable == null || column == null) return;
            if (Scopes.Resolve(column, out var owner, out var columnType) != Resolved.Found) return;
            var isParameter = parameters.TryGetValue(variable.Name, out var type);
            if (!isParameter && !locals.TryGetValue(variable.Name, out type)) return;
            var problem = Width.Problem(type, columnType, mustBeWider: isParameter);
            if (problem == null) return;
            var who = isParameter ? "parameter" : "variable";
            var name = column.MultiPartIdentifier.Identifiers.Last().Value;
            Found(variable, $"the {who} {variable.Name} {Tokens.Flat(type)} {problem} the column {owner.Name}.{name} {Tokens.Flat(columnType)}");
        }

        static ScalarExpression Bare(ScalarExpression expression)
        {
            while (expression is ParenthesisExpression inner) expression = inner.Expression;
            return expression;
        }
    }
}
