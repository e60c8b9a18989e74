// Which row sources a column name can come from at one point of a query.
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    /// <summary>The sources of one query level, by alias, and the names that its SELECT list gives.</summary>
    sealed class Scope
    {
        public readonly Dictionary<string, Shape> Sources = new Dictionary<string, Shape>(StringComparer.OrdinalIgnoreCase);
        public readonly HashSet<string> SelectAliases = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
    }

    enum Resolved
    {
        Found,
        /// <summary>A source whose columns the script does not state may have it.</summary>
        Unknown,
        Missing,
    }

    sealed class Scopes
    {
        readonly Dictionary<string, Shape> tables;
        readonly Dictionary<string, Shape> variables;
        readonly Stack<Scope> open = new Stack<Scope>();

        public Scopes(Dictionary<string, Shape> tables, Dictionary<string, Shape> variables)
        {
            this.tables = tables;
            this.variables = variables;
        }

        public void Push(Scope scope) => open.Push(scope);

        public void Pop() => open.Pop();

        public Scope OfQuery(QuerySpecification query)
        {
            var scope = new Scope();
            AddFrom(scope, query.FromClause);
            foreach (var element in query.SelectElements.OfType<SelectScalarExpression>())
                if (element.ColumnName != null) scope.SelectAliases.Add(element.ColumnName.Value);
            return scope;
        }

        /// <summary>UPDATE, DELETE and INSERT: the FROM sources, the target, and `inserted` and `deleted` shaped like it.</summary>
        public Scope OfChange(DataModificationSpecification change, FromClause from)
        {
            var scope = new Scope();
            AddFrom(scope, from);
            var target = ShapeOf(change.Target);
            if (!(change.Target is NamedTableReference named && named.SchemaObject.Identifiers.Count == 1
                && scope.Sources.TryGetValue(named.SchemaObject.BaseIdentifier.Value, out target)))
            {
                target = ShapeOf(change.Target);
                if (!scope.Sources.Values.Contains(target)) scope.Sources["\0target"] = target;
            }
            scope.Sources["inserted"] = scope.Sources["deleted"] = target;
            return scope;
        }

        public Shape ShapeOf(TableReference reference)
        {
            if (reference is NamedTableReference named)
            {
                var name = named.SchemaObject.BaseIdentifier.Value;
                var ours = Tokens.Same(named.SchemaObject.SchemaIdentifier?.Value, Script.Schema);
                return ours && tables.TryGetValue(name, out var table) ? table : Shape.Unknown(name);
            }
            if (reference is VariableTableReference variable)
            {
                var name = variable.Variable.Name;
                return variables.TryGetValue(name, out var declared) ? declared : Shape.Unknown(name);
            }
            return reference is OpenJsonTableReference json ? Shapes.OfJson(json) : Shape.Unknown("");
        }

        void AddFrom(Scope scope, FromClause from)
        {
            foreach (var reference in from?.TableReferences ?? new List<TableReference>()) AddReference(scope, reference);
        }

        void AddReference(Scope scope, TableReference reference)
        {
            if (reference is JoinTableReference join)
            {
                AddReference(scope, join.FirstTableReference);
                AddReference(scope, join.SecondTableReference);
            }
            else if (reference is JoinParenthesisTableReference inner)
            {
                AddReference(scope, inner.Join);
            }
            else
            {
                var shape = ShapeOf(reference);
                var alias = (reference as TableReferenceWithAlias)?.Alias?.Value ?? shape.Name;
                scope.Sources[alias == "" ? $"\0{scope.Sources.Count}" : alias] = shape;
            }
        }

        /// <summary>Finds a column from the innermost level outwards; owner and type are set when it is found.</summary>
        public Resolved Resolve(ColumnReferenceExpression column, out Shape owner, out DataTypeReference type)
        {
            owner = null;
            type = null;
            var parts = column.MultiPartIdentifier?.Identifiers;
            if (parts == null || column.ColumnType != ColumnType.Regular || open.Count == 0) return Resolved.Unknown;
            var name = parts[parts.Count - 1].Value;
            var unknown = false;
            foreach (var scope in open)
            {
                if (parts.Count == 1 && scope.SelectAliases.Contains(name)) unknown = true;
                foreach (var source in scope.Sources)
                {
                    var pseudo = source.Key == "inserted" || source.Key == "deleted";
                    if (parts.Count == 1 ? pseudo : !Tokens.Same(source.Key, parts[parts.Count - 2].Value) && !IsTarget(source, parts)) continue;
                    if (source.Value.Columns == null) unknown = true;
                    else if (source.Value.Columns.TryGetValue(name, out type))
                    {
                        owner = source.Value;
                        return Resolved.Found;
                    }
                }
                if (unknown) return Resolved.Unknown;
            }
            return Resolved.Missing;
        }

        // UPDATE [s].t SET … WHERE t.x = …: the target goes by its own name.
        static bool IsTarget(KeyValuePair<string, Shape> source, IList<Identifier> parts) =>
            source.Key == "\0target" && Tokens.Same(source.Value.Name, parts[parts.Count - 2].Value);
    }
}
