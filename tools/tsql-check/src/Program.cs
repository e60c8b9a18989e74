// The command line: `tsql-check ROOT [--generated FILE]… [PATH]…` or `tsql-check --self-test FOLDER SCRATCH`.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace TsqlCheck
{
    static class Program
    {
        static int Main(string[] arguments)
        {
            if (arguments.Length == 3 && arguments[0] == "--self-test")
                return SelfTest.Run(Path.GetFullPath(arguments[1]), Path.GetFullPath(arguments[2]));

            var root = Path.GetFullPath(arguments[0]);
            var generated = new List<string>();
            var only = new List<string>();
            for (var i = 1; i < arguments.Length; i++)
            {
                if (arguments[i] == "--generated") generated.Add(arguments[++i]);
                else only.Add(Path.GetFullPath(arguments[i]));
            }
            return Check(root, generated, only);
        }

        // The whole repository is always loaded, since a procedure binds to tables of other files; paths narrow what is printed.
        static int Check(string root, List<string> generated, List<string> only)
        {
            var report = new Report();
            var repository = Checker.Run(root, generated, report);
            var findings = report.Sorted().Where(f => only.Count == 0 || only.Any(p => Covers(p, Path.Combine(root, f.File)))).ToList();
            foreach (var finding in findings) Console.WriteLine(finding);
            var read = repository.Scripts.Select(s => s.File).Concat(EngineCases.Files(repository)).ToList();
            foreach (var path in only.Where(p => !read.Any(file => Covers(p, Path.Combine(root, file)))))
            {
                Console.WriteLine($"{path}:1: syntax: the check reads no such file; it knows migrations, Markdown with sql blocks and engine cases");
                return 1;
            }
            var scripts = repository.Scripts.Count;
            Console.WriteLine(findings.Count == 0
                ? $"tsql-check: {scripts} scripts, nothing wrong"
                : $"tsql-check: {scripts} scripts, {findings.Count} findings");
            return findings.Count == 0 ? 0 : 1;
        }

        static bool Covers(string path, string file) => file == path || file.StartsWith(path.TrimEnd('/') + "/");
    }
}
