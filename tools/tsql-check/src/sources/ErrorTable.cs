// The numbers of docs/errors.md: rows whose first cell is a number.
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;

namespace TsqlCheck
{
    sealed class ErrorTable
    {
        public sealed class Row
        {
            public int Line;
            public int Number;
            public string Name;
        }

        public readonly string File;
        public readonly List<Row> Rows = new List<Row>();

        ErrorTable(string file) { File = file; }

        public bool Lists(int number) => Rows.Any(r => r.Number == number);

        public static ErrorTable Load(string path, string shownAs)
        {
            var table = new ErrorTable(shownAs);
            if (!System.IO.File.Exists(path)) return table;
            var line = 0;
            foreach (var text in System.IO.File.ReadAllLines(path))
            {
                line++;
                var cells = Regex.Match(text, @"^\|\s*`?(\d{5})`?\s*\|\s*([^|]*?)\s*\|");
                if (!cells.Success) continue;
                var number = int.Parse(cells.Groups[1].Value);
                // Our own range only: the same page may explain SQL Server's numbers as well.
                if (number < 51000 || number > 51099) continue;
                table.Rows.Add(new Row { Line = line, Number = number, Name = cells.Groups[2].Value.Trim('`') });
            }
            return table;
        }
    }
}
