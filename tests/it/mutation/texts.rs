//! The words are found, and taken out without a trace of them.

use crate::support::mutants::words::{Kind, without, words};
use crate::support::mutants::{of, procedures};

const SCRIPT: &str = "\
-- WITH (NOLOCK), ORDER BY in a comment
CREATE OR ALTER PROCEDURE [$(schema)].p AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    SET LOCK_TIMEOUT 250; /* SET LOCK_TIMEOUT 1; */
    INSERT INTO @t (a) SELECT DISTINCT j.a FROM OPENJSON(@l) WITH (a INT '$.order by', ord INT '$') AS j;
    SELECT TOP (1) @x = c.a FROM @t AS t CROSS APPLY
    (
        SELECT TOP (1) q.a FROM [$(schema)].q AS q
               WITH (INDEX(ix_q), FORCESEEK,
                     UPDLOCK)
        WHERE q.b = N'WITH (XLOCK)' ORDER BY q.a, COALESCE(q.b, N'')
    ) AS c
    ORDER BY c.a OPTION (KEEPFIXED PLAN);
    UPDATE s SET s.a = 1 FROM [$(schema)].[order by] AS s WITH (ROWLOCK) WHERE s.a = 2;
    COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);
END;
";

/// What stands in comments, strings, names and the columns of OPENJSON is no such word.
#[test]
fn words_are_found_where_they_mean_something() {
    let found: Vec<(Kind, String)> = words(SCRIPT)
        .into_iter()
        .map(|word| (word.kind, word.name))
        .collect();
    let expected = [
        (Kind::Setting, "NOCOUNT"),
        (Kind::Setting, "XACT_ABORT"),
        (Kind::Setting, "SET LOCK_TIMEOUT 250"),
        (Kind::Distinct, "DISTINCT"),
        (Kind::Path, "INDEX(ix_q)"),
        (Kind::Path, "FORCESEEK"),
        (Kind::Lock, "UPDLOCK"),
        (Kind::Order, "ORDER BY q.a, COALESCE(q.b, N'')"),
        (Kind::Order, "ORDER BY c.a"),
        (Kind::Choice, "KEEPFIXED PLAN"),
        (Kind::Lock, "ROWLOCK"),
        (Kind::Choice, "DELAYED_DURABILITY = ON"),
    ];
    let expected: Vec<(Kind, String)> = expected
        .into_iter()
        .map(|(kind, name)| (kind, name.to_owned()))
        .collect();
    assert_eq!(found, expected);
}

/// Each word goes with its comma, and the last one of a list with the list.
#[test]
fn text_without_a_word_is_still_a_procedure() {
    let line = |name: &str| {
        let found = words(SCRIPT);
        let word = found.iter().find(|word| word.name == name).expect(name);
        let text = without(SCRIPT, word);
        assert_eq!(text.lines().count(), SCRIPT.lines().count(), "{name}");
        let changed = text.lines().zip(SCRIPT.lines()).find(|(a, b)| a != b);
        let changed = changed.expect("something is gone").0;
        changed.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("NOCOUNT"), "SET XACT_ABORT ON;");
    assert_eq!(line("XACT_ABORT"), "SET NOCOUNT ON;");
    assert_eq!(line("SET LOCK_TIMEOUT 250"), "/* SET LOCK_TIMEOUT 1; */");
    assert_eq!(line("INDEX(ix_q)"), "WITH ( FORCESEEK,");
    assert_eq!(line("UPDLOCK"), "WITH (INDEX(ix_q), FORCESEEK");
    assert_eq!(line("ORDER BY c.a"), "OPTION (KEEPFIXED PLAN);");
    assert_eq!(line("KEEPFIXED PLAN"), "ORDER BY c.a ;");
    assert_eq!(
        line("ROWLOCK"),
        "UPDATE s SET s.a = 1 FROM [$(schema)].[order by] AS s WHERE s.a = 2;"
    );
    assert_eq!(line("DELAYED_DURABILITY = ON"), "COMMIT TRANSACTION ;");
}

/// Every hint and every ORDER BY of the real procedures is among the mutants, each in its place.
#[test]
fn no_word_of_the_procedures_is_overlooked() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/procedures");
    for procedure in procedures() {
        let text = std::fs::read_to_string(format!("{folder}/{procedure}.sql")).unwrap();
        let code = text.lines().filter(|line| !line.trim().starts_with("--"));
        let code: String = code.collect::<Vec<_>>().join("\n");
        let mutants = of(&procedure);
        for word in [
            "UPDLOCK",
            "READPAST",
            "ROWLOCK",
            "FORCESEEK",
            "NOLOCK",
            "ORDER BY",
        ] {
            let found = mutants.iter().filter(|m| m.word.starts_with(word)).count();
            assert_eq!(found, code.matches(word).count(), "{word} in {procedure}");
        }
        for mutant in mutants {
            let line = text.lines().nth(mutant.line - 1).expect("its line");
            let first = mutant.word.split([' ', '(']).next().expect("a word");
            assert!(line[mutant.column - 1..].starts_with(first), "{mutant}");
        }
    }
}
