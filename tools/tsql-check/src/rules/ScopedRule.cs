// A rule that knows, at every column reference of a procedure, where the column comes from.
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    abstract class ScopedRule : Rule
    {
        // Their first argument is a date part, which the parser hands over as a column reference.
        static readonly string[] DatePartFunctions = { "DATEADD", "DATEDIFF", "DATEDIFF_BIG", "DATENAME", "DATEPART", "DATETRUNC" };

        protected Scopes Scopes { get; private set; }

        protected override void CheckScript()
        {
            if (Script.Procedure == null) return;
            Scopes = new Scopes(Shapes.Tables(Repository), Shapes.TableVariables(Script.Procedure));
            base.CheckScript();
        }

        /// <summary>Called for each column list and its source of an INSERT.</summary>
        protected virtual void OnInsert(InsertSpecification node) { }

        public override void ExplicitVisit(QuerySpecification node)
        {
            Scopes.Push(Scopes.OfQuery(node));
            base.ExplicitVisit(node);
            Scopes.Pop();
        }

        public override void ExplicitVisit(UpdateSpecification node)
        {
            Scopes.Push(Scopes.OfChange(node, node.FromClause));
            base.ExplicitVisit(node);
            Scopes.Pop();
        }

        public override void ExplicitVisit(DeleteSpecification node)
        {
            Scopes.Push(Scopes.OfChange(node, node.FromClause));
            base.ExplicitVisit(node);
            Scopes.Pop();
        }

        // The column list and OUTPUT see the target; the rows' source does not.
        public override void ExplicitVisit(InsertSpecification node)
        {
            Scopes.Push(Scopes.OfChange(node, null));
            OnInsert(node);
            foreach (var column in node.Columns) column.Accept(this);
            node.OutputClause?.Accept(this);
            node.OutputIntoClause?.Accept(this);
            Scopes.Pop();
            node.InsertSource.Accept(this);
        }

        public override void ExplicitVisit(OutputIntoClause node)
        {
            foreach (var column in node.SelectColumns) column.Accept(this);
            var scope = new Scope();
            scope.Sources["\0target"] = Scopes.ShapeOf(node.IntoTable);
            Scopes.Push(scope);
            foreach (var column in node.IntoTableColumns) column.Accept(this);
            Scopes.Pop();
        }

        public override void ExplicitVisit(FunctionCall node)
        {
            if (!DatePartFunctions.Any(f => Tokens.Same(f, node.FunctionName.Value)))
            {
                base.ExplicitVisit(node);
                return;
            }
            foreach (var argument in node.Parameters.Skip(1)) argument.Accept(this);
        }

        // Keys inside the declaration refer to its own columns.
        public override void ExplicitVisit(DeclareTableVariableStatement node) { }
    }
}
