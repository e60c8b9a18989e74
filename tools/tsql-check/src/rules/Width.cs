// Compares the widths of two data types.
using System;
using System.Linq;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    static class Width
    {
        static readonly SqlDataTypeOption[] Integers =
            { SqlDataTypeOption.Bit, SqlDataTypeOption.TinyInt, SqlDataTypeOption.SmallInt, SqlDataTypeOption.Int, SqlDataTypeOption.BigInt };

        static readonly SqlDataTypeOption[] Wide = { SqlDataTypeOption.NVarChar, SqlDataTypeOption.NChar };
        static readonly SqlDataTypeOption[] Narrow = { SqlDataTypeOption.VarChar, SqlDataTypeOption.Char };
        static readonly SqlDataTypeOption[] Binary = { SqlDataTypeOption.VarBinary, SqlDataTypeOption.Binary };

        /// <summary>A phrase that fits between variable and column, or null when nothing can be lost.</summary>
        public static string Problem(DataTypeReference variable, DataTypeReference column, bool mustBeWider)
        {
            var v = variable as SqlDataTypeReference;
            var c = column as SqlDataTypeReference;
            if (v == null || c == null) return null;
            var integer = Array.IndexOf(Integers, v.SqlDataTypeOption);
            if (integer >= 0) return integer < Array.IndexOf(Integers, c.SqlDataTypeOption) ? "is narrower than" : null;
            if (Narrow.Contains(v.SqlDataTypeOption) && Wide.Contains(c.SqlDataTypeOption)) return "cannot hold every character of";
            if (!HasLength(v) || !HasLength(c)) return null;
            var length = Length(v);
            if (length == int.MaxValue) return null;
            if (length < Length(c)) return "is narrower than";
            return mustBeWider && length == Length(c) ? "is not wider than" : null;
        }

        static bool HasLength(SqlDataTypeReference type) => Wide.Concat(Narrow).Concat(Binary).Contains(type.SqlDataTypeOption);

        // A declaration without a length means one character.
        static int Length(SqlDataTypeReference type)
        {
            if (type.Parameters.Count == 0) return 1;
            return type.Parameters[0] is MaxLiteral ? int.MaxValue : int.Parse(type.Parameters[0].Value);
        }
    }
}
