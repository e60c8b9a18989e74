// Takes apart what the schema compiler says: about which object, and which reference in it.
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

namespace TsqlCheck
{
    sealed class ModelMessage
    {
        public int Number;
        /// <summary>The message without its fixed opening.</summary>
        public string Text;
        public bool IsPermission;
        public bool IsProcedure;
        /// <summary>The parts of the name of the object complained about.</summary>
        public List<string> Subject;
        /// <summary>The parts of the name that could not be resolved; empty when the message is about something else.</summary>
        public List<string> Reference;

        public static ModelMessage Parse(int number, string message)
        {
            var opening = Regex.Match(message, @"^Error validating element (.+?): (?=\w)");
            var text = message.Substring(opening.Length);
            var subject = Regex.Match(text, @"^(Sql\w+): (\[.+?\])(?= |$)");
            var reference = Regex.Match(text, @"(?:reference to (?:object|Sql\w+)|following objects:) (\[[^ ]+\])");
            var column = Regex.Match(text, @"^The reference to the column (\S+) could not be resolved");
            return new ModelMessage
            {
                Number = number,
                Text = text,
                IsPermission = text.StartsWith("Permission "),
                IsProcedure = column.Success || subject.Groups[1].Value == "SqlProcedure",
                Subject = Parts(subject.Success ? subject.Groups[2].Value : opening.Groups[1].Value),
                Reference = column.Success ? column.Groups[1].Value.Split('.').ToList() : Parts(reference.Groups[1].Value),
            };
        }

        /// <summary>True when the other reference begins with this one, in the same object: it is missing because this one is.</summary>
        public bool Explains(ModelMessage other) =>
            Reference.Count > 0 && Reference.Count < other.Reference.Count
            && Subject.SequenceEqual(other.Subject) && Reference.SequenceEqual(other.Reference.Take(Reference.Count));

        static List<string> Parts(string name) =>
            Regex.Matches(name, @"\[((?:[^\]]|\]\])*)\]").Cast<Match>().Select(m => m.Groups[1].Value.Replace("]]", "]")).ToList();
    }
}
