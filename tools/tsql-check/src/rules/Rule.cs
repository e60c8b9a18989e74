// What a house rule is, and the list of all of them.
using System.Collections.Generic;
using Microsoft.SqlServer.TransactSql.ScriptDom;

namespace TsqlCheck
{
    /// <summary>A visitor with a name: it walks one parsed migration script and reports what it dislikes.</summary>
    abstract class Rule : TSqlFragmentVisitor
    {
        protected Repository Repository { get; private set; }
        protected Script Script { get; private set; }
        Report report;

        /// <summary>The word between file:line and the reason.</summary>
        public abstract string Name { get; }

        /// <summary>Walks the script's tree; a rule about whole procedures overrides this instead of the Visit methods.</summary>
        protected virtual void CheckScript() => Script.Tree.Accept(this);

        public void Check(Repository repository, Script script, Report into)
        {
            Repository = repository;
            Script = script;
            report = into;
            CheckScript();
        }

        protected void Found(TSqlFragment at, string reason) => report.Add(Script.File, Script.Line(at), Name, reason);

        protected void FoundAt(int line, string reason) => report.Add(Script.File, line, Name, reason);

        /// <summary>New rule objects; they keep state while they walk.</summary>
        public static IList<Rule> All() => new Rule[]
        {
            new AccessPathRule(),
            new BeginEndRule(),
            new CursorRule(),
            new DialectRule(),
            new DynamicSqlRule(),
            new ErrorNumberRule(),
            new ExecArgumentsRule(),
            new HeaderRule(),
            new IsolationLevelRule(),
            new LocalBindingRule(),
            new LockOrderRule(),
            new MergeRule(),
            new NamedConstraintRule(),
            new NoLockRule(),
            new ParameterWidthRule(),
            new ProcedureFileRule(),
            new SelectStarRule(),
            new SemicolonRule(),
            new SetOptionsRule(),
            new SpPrefixRule(),
            new TempTableRule(),
            new TransactionRule(),
            new TwoPartNameRule(),
            new ViewFileRule(),
            new WhereRule(),
        };
    }
}
