//! What SQL Server has and the engine has not, refused by name wherever the grammar comes upon it.

use super::cursor::Parser;
use super::token::Tok;
use crate::error::SqlError;
use crate::refused::{Kind, refusal, refused};

impl Parser<'_> {
    /// The refusal of the word at the current place, if it is in the register as such a thing.
    pub fn refused_here(&self, kind: Kind) -> Option<SqlError> {
        let refused = refusal(kind, &self.upper())?;
        Some(refused.at(self.line()))
    }

    /// The refusal, here, of a name of the register.
    pub fn refused(&self, kind: Kind, name: &str) -> SqlError {
        refused(kind, name).at(self.line())
    }

    /// The same of a word that a parenthesis follows; without one it is a name like any other.
    pub fn refused_call(&self, kind: Kind) -> Option<SqlError> {
        let is_call = self.peek_at(1).kind == Tok::LParen;
        is_call.then(|| self.refused_here(kind)).flatten()
    }

    /// The error for a reserved word that begins no statement of ours.
    pub fn refuse_statement(&self, word: &str) -> SqlError {
        self.refusal_of(word).unwrap_or_else(|| self.fail())
    }

    /// Statements that begin with unreserved words are known by their first two.
    pub fn refuse_word_statement(&self) -> Option<SqlError> {
        let (first, second) = (self.upper(), self.upper_at(1));
        match (first.as_str(), second.as_str()) {
            ("DISABLE" | "ENABLE", "TRIGGER")
            | ("MOVE" | "GET", "CONVERSATION")
            | ("SEND", "ON")
            | ("RECEIVE", "TOP") => self.refusal_of(&first),
            _ => None,
        }
    }

    /// The refusal of a statement by its first word or its first two.
    pub fn refusal_of(&self, word: &str) -> Option<SqlError> {
        let two = || refusal(Kind::Statement, &format!("{word} {}", self.upper_at(1)));
        let refused = refusal(Kind::Statement, word).or_else(two)?;
        Some(refused.at(self.line()))
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParseOptions, parse_batch};
    use crate::refused::{Kind, names, refusal};

    /// No statement of the register is parsed after all, also not in the body of a procedure.
    #[test]
    fn refused_statements_are_refused_by_name() {
        for name in names(Kind::Statement) {
            let rest = match name {
                "SEND" => " ON CONVERSATION @h",
                "RECEIVE" => " TOP (1) * FROM q",
                _ => " x",
            };
            for before in ["", "CREATE PROCEDURE p AS "] {
                let text = format!("{before}{name}{rest}");
                let error = parse_batch(&text, ParseOptions::default()).unwrap_err();
                let expected = refusal(Kind::Statement, name).unwrap().message;
                assert_eq!(error.message, expected, "{text}");
            }
        }
    }

    /// Wherever the grammar comes upon a word of the register, it gives the register's refusal.
    #[test]
    fn the_parser_refuses_what_the_register_names_with_its_reason() {
        let texts: [(Kind, &[&str]); 6] = [
            (
                Kind::RowSet,
                &["SELECT 1 FROM {} (a, b) AS x", "DELETE {} (a, b)"],
            ),
            (
                Kind::SourceClause,
                &["SELECT 1 FROM t {} (x)", "SELECT 1 FROM t AS u {} (x)"],
            ),
            (
                Kind::Predicate,
                &["IF {} (a) SELECT 1", "SELECT 1 FROM t WHERE NOT {} (a, b)"],
            ),
            (
                Kind::ColumnProperty,
                &[
                    "CREATE TABLE t (a INT {})",
                    "ALTER TABLE t ADD a INT NULL {}",
                ],
            ),
            (
                Kind::Index,
                &[
                    "CREATE TABLE t (a INT, INDEX i NONCLUSTERED {} (a))",
                    "CREATE TABLE t (a INT INDEX i {})",
                ],
            ),
            (Kind::Function, &["SELECT {} (a)", "IF {} (a) = 1 SELECT 1"]),
        ];
        for (kind, texts) in texts {
            for name in names(kind).filter(|name| !name.starts_with("@@")) {
                for text in texts {
                    let text = text.replace("{}", name);
                    let expected = refusal(kind, name).unwrap().message;
                    match parse_batch(&text, ParseOptions::default()) {
                        Err(error) => assert_eq!(error.message, expected, "{text}"),
                        Ok(_) => panic!("{text} is accepted"),
                    }
                }
            }
        }
    }

    /// A text for each clause and query hint of the register, which is refused with the register's reason.
    #[test]
    fn clauses_and_hints_are_refused_with_their_reason() {
        let texts = [
            ("CURSOR", "DECLARE c CURSOR FOR SELECT 1"),
            ("WHERE CURRENT OF", "DELETE t WHERE CURRENT OF c"),
            (
                "NOT FOR REPLICATION",
                "CREATE TABLE t (a INT CHECK NOT FOR REPLICATION (a > 1))",
            ),
            (
                "FOR REPLICATION",
                "CREATE PROCEDURE p FOR REPLICATION AS SELECT 1",
            ),
            ("a method call on a variable", "SELECT @x.value('a', 'b')"),
            ("a method call on a value", "SELECT f(1).value('a', 'b')"),
            ("a method call in UPDATE", "UPDATE t SET a.WRITE('x', 0, 1)"),
            ("a static method call", "SELECT hierarchyid::GetRoot()"),
            ("EXTERNAL NAME", "CREATE PROCEDURE p AS EXTERNAL NAME a.b.c"),
            ("FOR XML", "SELECT 1 AS a FOR XML AUTO"),
            (
                "WITH XMLNAMESPACES",
                "WITH XMLNAMESPACES ('u' AS n) SELECT 1",
            ),
            ("a typed XML or spatial type", "CREATE TABLE t (a XML (c))"),
            (
                "REMOTE JOIN",
                "SELECT 1 FROM t INNER REMOTE JOIN u ON 1 = 1",
            ),
            ("EXECUTE … AT", "EXEC ('SELECT 1') AT linked"),
            (
                "EXECUTE of text with parameters",
                "EXEC ('SELECT ?', 1) AT linked",
            ),
            ("FOR BROWSE", "SELECT 1 AS a FOR BROWSE"),
            ("COMPUTE", "SELECT a FROM t COMPUTE SUM(a)"),
            ("GROUP BY ALL", "SELECT a FROM t GROUP BY ALL a"),
            ("a numbered procedure", "EXEC p;2"),
            ("an ODBC escape sequence", "SELECT {d '2020-01-01'}"),
            (
                "the :: function prefix",
                "SELECT 1 FROM ::fn_helpcollations()",
            ),
            ("ALL permissions", "GRANT ALL ON t TO u"),
            (
                "WITH CHANGE_TRACKING_CONTEXT",
                "WITH CHANGE_TRACKING_CONTEXT (0x1) DELETE t",
            ),
            (
                "PERIOD FOR SYSTEM_TIME",
                "CREATE TABLE t (a INT, PERIOD FOR SYSTEM_TIME (a, b))",
            ),
            ("FOR SYSTEM_TIME", "SELECT 1 FROM t FOR SYSTEM_TIME ALL"),
            ("DROP PERIOD", "ALTER TABLE t DROP PERIOD FOR SYSTEM_TIME"),
            ("FOR PATH", "SELECT 1 FROM t FOR PATH AS u"),
            ("NEXT VALUE FOR", "SELECT NEXT VALUE FOR s"),
            (
                "WITH GRANT OPTION",
                "GRANT SELECT ON t TO u WITH GRANT OPTION",
            ),
            (
                "REVOKE GRANT OPTION FOR",
                "REVOKE GRANT OPTION FOR SELECT ON t TO u",
            ),
            ("column permissions", "GRANT SELECT (a) ON t TO u"),
            (
                "IS DISTINCT FROM",
                "SELECT 1 FROM t WHERE a IS DISTINCT FROM b",
            ),
            (
                "IGNORE NULLS and RESPECT NULLS",
                "SELECT LAG(a) IGNORE NULLS OVER (ORDER BY a) FROM t",
            ),
            (
                "TRIM with LEADING, TRAILING or BOTH",
                "SELECT TRIM(LEADING 'a' FROM 'b')",
            ),
            ("a named WINDOW", "SELECT SUM(a) OVER w FROM t"),
            ("WITH RESULT SETS", "EXEC p WITH RESULT SETS NONE"),
            (
                "WITH CHECK OPTION",
                "CREATE VIEW v AS SELECT 1 AS a WITH CHECK OPTION",
            ),
            (
                "WITH NOCHECK",
                "ALTER TABLE t WITH NOCHECK ADD CHECK (a > 1)",
            ),
            (
                "IDENTITY() in SELECT INTO",
                "SELECT IDENTITY(INT, 1, 1) AS a INTO t FROM u",
            ),
            ("IDENTITYCOL", "SELECT IDENTITYCOL FROM t"),
            (
                "a data change as a table source",
                "SELECT 1 FROM (DELETE t OUTPUT deleted.a) AS d",
            ),
            (
                "a second OUTPUT clause",
                "DELETE t OUTPUT deleted.a INTO @t OUTPUT deleted.a",
            ),
            (
                "EXECUTE AS … WITH NO REVERT or COOKIE",
                "EXECUTE AS USER = 'u' WITH NO REVERT",
            ),
            ("REVERT WITH COOKIE", "REVERT WITH COOKIE = @c"),
            (
                "EXECUTE … AS USER or LOGIN",
                "EXEC ('SELECT 1') AS USER = 'u'",
            ),
            ("GRANT, DENY or REVOKE … AS", "GRANT SELECT ON t TO u AS v"),
            ("KILL … WITH STATUSONLY", "KILL 51 WITH STATUSONLY"),
            ("FOR JSON AUTO", "SELECT 1 AS a FOR JSON AUTO"),
            ("a global temporary object", "SELECT 1 FROM ##t"),
            ("a temporary procedure", "CREATE PROCEDURE #p AS SELECT 1"),
            (
                "WAITFOR (RECEIVE)",
                "WAITFOR (RECEIVE TOP (1) * FROM q), TIMEOUT 1",
            ),
            ("BEGIN TRANSACTION WITH MARK", "BEGIN TRAN t WITH MARK"),
            (
                "TRUNCATE TABLE … WITH (PARTITIONS)",
                "TRUNCATE TABLE t WITH (PARTITIONS (1))",
            ),
            (
                "NOT NULL on a procedure parameter",
                "CREATE PROCEDURE p @a INT NOT NULL AS SELECT 1",
            ),
        ];
        let clauses: Vec<&str> = texts.iter().map(|(name, _)| *name).collect();
        assert_eq!(names(Kind::Clause).collect::<Vec<_>>(), clauses);
        let clauses = texts.map(|(name, text)| (Kind::Clause, name, text.to_owned()));
        let hints = names(Kind::QueryHint).map(|name| {
            (
                Kind::QueryHint,
                name,
                format!("SELECT 1 OPTION ({name} (1))"),
            )
        });
        for (kind, name, text) in clauses.into_iter().chain(hints) {
            let error = parse_batch(&text, ParseOptions::default()).unwrap_err();
            let expected = refusal(kind, name).unwrap().message;
            assert_eq!(error.message, expected, "{text}");
        }
    }
}
