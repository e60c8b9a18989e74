// The rest of the small dialect: constructs that we have decided to do without, each with what to write instead.
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    sealed class DialectRule : Rule
    {
        public override string Name => "dialect";

        // The one procedure whose purpose is to wait, on a connection that nobody else needs.
        const string Waiting = "wait_for_work";

        public override void Visit(WaitForStatement node)
        {
            if (Script.ProcedureName != Waiting) Found(node, $"WAITFOR holds a connection; only {Waiting} may, elsewhere the client waits");
        }

        public override void Visit(PrintStatement node) => Found(node, "PRINT sends a message nobody reads");
        public override void Visit(GoToStatement node) => Found(node, "GOTO; use IF, WHILE, BREAK or RETURN");
        public override void Visit(RaiseErrorStatement node) => Found(node, "RAISERROR; use THROW with a number of docs/errors.md");
        public override void Visit(TriggerStatementBody node) => Found(node, "a trigger; do its work in the procedures");
        public override void Visit(FunctionStatementBody node) => Found(node, "a user-defined function; do its work in the procedures");
        public override void Visit(UseStatement node) => Found(node, "USE changes the database; scripts run where they are connected");
        public override void Visit(AlterDatabaseStatement node) => Found(node, "ALTER DATABASE; document the setting as a requirement instead");
        public override void Visit(SetTransactionIsolationLevelStatement node)
        {
            if (node.Level != IsolationLevel.ReadCommitted)
                Found(node, "the isolation level is READ COMMITTED everywhere; use table hints");
        }

        public override void Visit(SaveTransactionStatement node) => Found(node, "a savepoint; a procedure commits or rolls back as a whole");

        // The stand-alone parser takes a variable; servers answer 102.
        public override void Visit(GeneralSetCommand node)
        {
            if (node.CommandType == GeneralSetCommandType.LockTimeout && Collector<VariableReference>.In(node).Any())
                Found(node, "SET LOCK_TIMEOUT takes a number; the caller's value comes back with the end of the procedure");
        }

        public override void Visit(OutputClause node) => CheckOutput(node);

        public override void Visit(OutputIntoClause node) => CheckOutput(node);

        void CheckOutput(TSqlFragment clause)
        {
            foreach (var column in Collector<ColumnReferenceExpression>.In(clause))
                if (column.MultiPartIdentifier?.Count > 1 && Tokens.Same(column.MultiPartIdentifier.Identifiers[0].Value, "deleted"))
                    Found(column, "OUTPUT deleted; read the values before the write");
        }

        public override void Visit(UpdateStatement node) => CheckTarget(node, node.UpdateSpecification);

        public override void Visit(DeleteStatement node) => CheckTarget(node, node.DeleteSpecification);

        void CheckTarget(StatementWithCtesAndXmlNamespaces statement, DataModificationSpecification change)
        {
            var target = (change.Target as NamedTableReference)?.SchemaObject.BaseIdentifier.Value;
            var through = statement.WithCtesAndXmlNamespaces?.CommonTableExpressions.Any(c => Tokens.Same(c.ExpressionName.Value, target));
            if (through == true) Found(change.Target, $"the write goes through the common table expression {target}; name the table");
        }
    }
}
