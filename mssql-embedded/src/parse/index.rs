//! CREATE INDEX, indexes inside CREATE TABLE, and their options.

use super::cursor::Parser;
use super::errors;
use super::render::render_condition;
use super::token::Tok;
use crate::ast::{CreateIndex, Ddl, Ident, IndexColumn, IndexOption};
use crate::error::SqlResult;
use crate::refused::Kind;

/// Switches that concern storage, build time or statistics only.
const NO_EFFECT: &[&str] = &[
    "PAD_INDEX",
    "ONLINE",
    "SORT_IN_TEMPDB",
    "STATISTICS_NORECOMPUTE",
    "STATISTICS_INCREMENTAL",
    "OPTIMIZE_FOR_SEQUENTIAL_KEY",
];

impl Parser<'_> {
    pub fn create_index(&mut self) -> SqlResult<Ddl> {
        let unique = self.eat_kw("UNIQUE");
        let clustered = self.eat_kw("CLUSTERED");
        if !clustered {
            self.eat_kw("NONCLUSTERED");
        }
        if let Some(refused) = self.refused_here(Kind::Index) {
            return Err(refused);
        }
        self.expect_kw("INDEX")?;
        let name = self.ident()?;
        self.expect_kw("ON")?;
        let table = Some(self.object_name()?);
        let columns = self.paren_list(Self::index_column)?;
        let index = CreateIndex {
            name,
            table,
            unique,
            clustered,
            columns,
            include: Vec::new(),
            filter: None,
            options: Vec::new(),
        };
        self.index_tail(index, "CREATE INDEX").map(Ddl::CreateIndex)
    }

    /// `INDEX name [UNIQUE] [CLUSTERED] (columns) …` inside CREATE TABLE, or over `own` column.
    pub fn inline_index(&mut self, own: Option<&Ident>) -> SqlResult<CreateIndex> {
        self.advance();
        let name = self.ident()?;
        let unique = self.eat_kw("UNIQUE");
        let clustered = self.eat_kw("CLUSTERED");
        if !clustered {
            self.eat_kw("NONCLUSTERED");
        }
        if let Some(refused) = self.refused_here(Kind::Index) {
            return Err(refused);
        }
        let columns = match own {
            Some(own) if !self.is(Tok::LParen) => vec![IndexColumn {
                name: own.clone(),
                descending: false,
            }],
            _ => self.paren_list(Self::index_column)?,
        };
        let index = CreateIndex {
            name,
            table: None,
            unique,
            clustered,
            columns,
            include: Vec::new(),
            filter: None,
            options: Vec::new(),
        };
        self.index_tail(index, "CREATE TABLE")
    }

    fn index_tail(&mut self, mut index: CreateIndex, statement: &str) -> SqlResult<CreateIndex> {
        if self.eat_kw("INCLUDE") {
            index.include = self.paren_list(Self::ident)?;
        }
        if self.eat_kw("WHERE") {
            let condition = self.condition()?;
            let text = format!("({})", render_condition(&condition));
            index.filter = Some((condition, text));
        }
        index.options = self.index_options(statement)?;
        self.filegroup()?;
        Ok(index)
    }

    pub fn index_column(&mut self) -> SqlResult<IndexColumn> {
        let name = self.ident()?;
        let descending = self.eat_kw("DESC");
        if !descending {
            self.eat_kw("ASC");
        }
        Ok(IndexColumn { name, descending })
    }

    /// `WITH (a = b, …)`, or the older `WITH FILLFACTOR = n`.
    pub fn index_options(&mut self, statement: &str) -> SqlResult<Vec<IndexOption>> {
        if !self.kw("WITH") {
            return Ok(Vec::new());
        }
        if self.kw_at(1, "FILLFACTOR") {
            self.advance();
            return Ok(vec![self.index_option(statement)?]);
        }
        if self.peek_at(1).kind != Tok::LParen {
            return Ok(Vec::new());
        }
        self.advance();
        self.paren_list(|p| p.index_option(statement))
    }

    /// `NONE`, `ROW` or `PAGE`; columnstore compression is another kind of table.
    pub fn compression(&mut self) -> SqlResult<()> {
        if self.kw_any(&["NONE", "ROW", "PAGE"]) {
            self.advance();
            return Ok(());
        }
        if self.kw_any(&["COLUMNSTORE", "COLUMNSTORE_ARCHIVE"]) {
            return Err(self.unsupported(&format!("DATA_COMPRESSION = {}", self.upper())));
        }
        Err(self.fail())
    }

    fn index_option(&mut self, statement: &str) -> SqlResult<IndexOption> {
        let word = self.upper();
        let name = self.any_word()?;
        self.expect(Tok::Eq)?;
        Ok(match word.as_str() {
            _ if NO_EFFECT.contains(&word.as_str()) => {
                self.on_off()?;
                if self.is(Tok::LParen) {
                    return Err(self.unsupported("WAIT_AT_LOW_PRIORITY"));
                }
                IndexOption::NoEffect
            }
            "FILLFACTOR" | "MAXDOP" => {
                self.integer::<u8>()?;
                IndexOption::NoEffect
            }
            "DATA_COMPRESSION" => {
                self.compression()?;
                IndexOption::NoEffect
            }
            "ALLOW_PAGE_LOCKS" => IndexOption::AllowPageLocks(self.on_off()?),
            "ALLOW_ROW_LOCKS" => {
                // Without row locks SQL Server locks pages, which the engine does not imitate.
                if !self.on_off()? {
                    return Err(self.unsupported("ALLOW_ROW_LOCKS = OFF"));
                }
                IndexOption::NoEffect
            }
            "IGNORE_DUP_KEY" => IndexOption::IgnoreDupKey(self.on_off()?),
            "DROP_EXISTING" => {
                if self.on_off()? {
                    return Err(self.unsupported("DROP_EXISTING = ON"));
                }
                IndexOption::NoEffect
            }
            "RESUMABLE" | "MAX_DURATION" | "XML_COMPRESSION" | "BUCKET_COUNT"
            | "COMPRESSION_DELAY" => {
                return Err(self.unsupported(&format!("the index option {word}")));
            }
            _ => return Err(errors::unknown_option(&name.name, statement, name.pos.line)),
        })
    }
}
