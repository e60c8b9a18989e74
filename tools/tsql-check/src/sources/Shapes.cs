// The columns of tables, table variables and OPENJSON results, as far as the scripts state them.
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    /// <summary>A row source's name and columns; Columns is null when the script does not state them.</summary>
    sealed class Shape
    {
        public string Name;
        public Dictionary<string, DataTypeReference> Columns;

        public static Shape Unknown(string name) => new Shape { Name = name };

        public static Shape Of(string name, IEnumerable<ColumnDefinition> columns)
        {
            var shape = new Shape { Name = name, Columns = new Dictionary<string, DataTypeReference>(StringComparer.OrdinalIgnoreCase) };
            foreach (var column in columns) shape.Columns[column.ColumnIdentifier.Value] = column.DataType;
            return shape;
        }
    }

    static class Shapes
    {
        /// <summary>Every table that the migrations create, with the columns that later ones add.</summary>
        public static Dictionary<string, Shape> Tables(Repository repository)
        {
            var tables = new Dictionary<string, Shape>(StringComparer.OrdinalIgnoreCase);
            foreach (var script in repository.Migrations.Where(s => s.Kind == ScriptKind.Tables && s.Tree != null))
            {
                foreach (var table in Collector<CreateTableStatement>.In(script.Tree))
                {
                    var name = table.SchemaObjectName.BaseIdentifier.Value;
                    tables[name] = Shape.Of(name, table.Definition.ColumnDefinitions);
                }
                foreach (var change in Collector<AlterTableAddTableElementStatement>.In(script.Tree))
                    if (tables.TryGetValue(change.SchemaObjectName.BaseIdentifier.Value, out var altered))
                        foreach (var column in change.Definition.ColumnDefinitions)
                            altered.Columns[column.ColumnIdentifier.Value] = column.DataType;
            }
            return tables;
        }

        /// <summary>The table variables that a procedure declares.</summary>
        public static Dictionary<string, Shape> TableVariables(TSqlFragment procedure) =>
            Collector<DeclareTableVariableBody>.In(procedure).ToDictionary(
                b => b.VariableName.Value,
                b => Shape.Of(b.VariableName.Value, b.Definition.ColumnDefinitions),
                StringComparer.OrdinalIgnoreCase);

        public static Shape OfJson(OpenJsonTableReference json)
        {
            var name = json.Alias?.Value ?? "OPENJSON";
            // Without WITH, OPENJSON has the fixed columns key, value and type, and we do not follow their types.
            if (json.SchemaDeclarationItems.Count == 0) return Shape.Unknown(name);
            return Shape.Of(name, json.SchemaDeclarationItems.Select(i => i.ColumnDefinition)
                .Select(c => new ColumnDefinition { ColumnIdentifier = c.ColumnIdentifier, DataType = c.DataType }));
        }
    }
}
