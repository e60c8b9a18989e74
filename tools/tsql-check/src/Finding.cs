// One thing that is wrong, and the list of all of them.
using System;
using System.Collections.Generic;
using System.Linq;

namespace TsqlCheck
{
    /// <summary>A violation at a place, printed as `file:line: rule: reason`.</summary>
    sealed class Finding
    {
        public readonly string File;
        public readonly int Line;
        public readonly string Rule;
        public readonly string Reason;

        public Finding(string file, int line, string rule, string reason)
        {
            File = file;
            Line = line;
            Rule = rule;
            Reason = reason;
        }

        public override string ToString() => $"{File}:{Line}: {Rule}: {Reason}";
    }

    /// <summary>Collects findings; the same finding met twice (two parsers, two models, two paths) counts once.</summary>
    sealed class Report
    {
        readonly HashSet<string> seen = new HashSet<string>();
        readonly List<Finding> findings = new List<Finding>();

        public void Add(string file, int line, string rule, string reason)
        {
            var finding = new Finding(file, line, rule, reason);
            if (seen.Add(finding.ToString())) findings.Add(finding);
        }

        public IEnumerable<Finding> Sorted() =>
            findings.OrderBy(f => f.File, StringComparer.Ordinal).ThenBy(f => f.Line).ThenBy(f => f.Rule, StringComparer.Ordinal);
    }
}
