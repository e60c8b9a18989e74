// What a condition is worth when the number of open transactions and the flags are known.
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    static class Condition
    {
        /// <summary>True or false where the state decides it, null where other data does.</summary>
        public static bool? Evaluate(BooleanExpression condition, FlowState state)
        {
            if (condition is BooleanParenthesisExpression inner) return Evaluate(inner.Expression, state);
            if (condition is BooleanNotExpression not) return !Evaluate(not.Expression, state);
            if (condition is BooleanComparisonExpression comparison) return Compare(comparison, state);
            if (condition is BooleanBinaryExpression both)
            {
                var left = Evaluate(both.FirstExpression, state);
                var right = Evaluate(both.SecondExpression, state);
                // The lifted operators of bool? are SQL's three-valued AND and OR.
                return both.BinaryExpressionType == BooleanBinaryExpressionType.And ? left & right : left | right;
            }
            return null;
        }

        static bool? Compare(BooleanComparisonExpression comparison, FlowState state)
        {
            var right = Number(comparison.SecondExpression, state);
            if (right == null) return null;
            if (IsXactState(comparison.FirstExpression))
            {
                // With an open transaction XACT_STATE() is 1 or -1 and we do not know which.
                if (state.Depth == 0) return Holds(comparison.ComparisonType, 0, right.Value);
                var committable = Holds(comparison.ComparisonType, 1, right.Value);
                return committable == Holds(comparison.ComparisonType, -1, right.Value) ? committable : null;
            }
            var left = Number(comparison.FirstExpression, state);
            return left == null ? null : Holds(comparison.ComparisonType, left.Value, right.Value);
        }

        static bool IsXactState(ScalarExpression expression) =>
            expression is FunctionCall call && Tokens.Same(call.FunctionName.Value, "XACT_STATE");

        static int? Number(ScalarExpression expression, FlowState state)
        {
            if (expression is GlobalVariableExpression global && Tokens.Same(global.Name, "@@TRANCOUNT")) return state.Depth;
            if (expression is IntegerLiteral literal && int.TryParse(literal.Value, out var value)) return value;
            if (expression is UnaryExpression unary && unary.UnaryExpressionType == UnaryExpressionType.Negative)
                return -Number(unary.Expression, state);
            if (expression is VariableReference variable) return state.Flags[variable.Name];
            if (expression is ParenthesisExpression inner) return Number(inner.Expression, state);
            return null;
        }

        static bool? Holds(BooleanComparisonType comparison, int left, int right)
        {
            switch (comparison)
            {
                case BooleanComparisonType.Equals: return left == right;
                case BooleanComparisonType.GreaterThan: return left > right;
                case BooleanComparisonType.LessThan: return left < right;
                case BooleanComparisonType.GreaterThanOrEqualTo: return left >= right;
                case BooleanComparisonType.LessThanOrEqualTo: return left <= right;
                case BooleanComparisonType.NotEqualToBrackets:
                case BooleanComparisonType.NotEqualToExclamation: return left != right;
                default: return null;
            }
        }
    }
}
