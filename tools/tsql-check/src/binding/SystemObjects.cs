// The objects of the sys schema that scripts may use: the model comes without them, so we vouch for the names here.
using System;
using System.Collections.Generic;
using System.Linq;

namespace TsqlCheck
{
    static class SystemObjects
    {
        static readonly string[] Names =
        {
            "columns", "database_principals", "databases", "indexes", "objects", "procedures",
            "schemas", "sp_getapplock", "sp_releaseapplock", "sql_modules", "tables", "types",
        };

        /// <summary>True for a reference into sys whose object is listed; its columns are not checked.</summary>
        public static bool Knows(IList<string> reference) =>
            reference.Count >= 2 && Tokens.Same(reference[0], "sys") && Names.Contains(reference[1], StringComparer.OrdinalIgnoreCase);
    }
}
