//! Table functions: OPENJSON and STRING_SPLIT.

use crate::ast::{Expr, Ident, JsonColumn, ObjectName};
use crate::catalog::{invalid_object, no_object};
use crate::error::{SqlError, SqlResult};
use crate::func::argument_count;
use crate::parse::errors::with_needs_semicolon;
use crate::plan::{JsonField, Node};
use crate::refused::{Kind, refusal};
use crate::value::{BareLength, Collation, ColumnMeta, DataType, Length};

use super::context::Binder;
use super::items::meta;
use super::planner::Rel;
use super::source::rename;
use super::typing::coerce;
use super::{resolve_collation, resolve_type};

impl<'a> Binder<'a> {
    /// `OPENJSON(json[, path]) [WITH (…)]`.
    pub(super) fn bind_open_json(
        &mut self,
        json: &'a Expr,
        path: Option<&'a Expr>,
        with: Option<&'a [JsonColumn]>,
        alias: Option<&Ident>,
    ) -> SqlResult<Rel> {
        let collation = self.ctx.database.collation;
        let text = DataType::nvarchar_max(collation);
        // A procedure may have been read at a higher level.
        if !self.ctx.database.has_open_json() {
            return Err(not_at_this_level(with.is_some()));
        }
        let json = self.bind_expr(json)?;
        if !json.ty.is_string() && !matches!(json.ty, DataType::Null) {
            return Err(SqlError::new(
                8116,
                format!(
                    "Argument data type {} is invalid for argument 1 of OPENJSON function.",
                    json.ty.name()
                ),
            ));
        }
        // "OPENJSON (Transact-SQL)": the column value has the collation of the text that is read.
        let read = json.ty.collation().unwrap_or(collation);
        let json = coerce(json, &text)?;
        let path = match path {
            Some(path) => {
                let path = self.bind_expr(path)?;
                Some(coerce(path, &text)?)
            }
            None => None,
        };
        let (fields, columns) = match with {
            Some(with) => self.json_columns(with)?,
            None => (None, default_columns(read)),
        };
        let exposed = alias.map_or("", |a| a.name.as_str());
        let node = |base| Node::OpenJson {
            json,
            path,
            with: fields,
            base,
        };
        self.add_other(node, columns, exposed, true)
    }

    fn json_columns(
        &self,
        with: &[JsonColumn],
    ) -> SqlResult<(Option<Vec<JsonField>>, Vec<ColumnMeta>)> {
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for column in with {
            let collation = match &column.collate {
                Some(name) => resolve_collation(name, self.ctx.database.collation)?,
                None => self.ctx.database.collation,
            };
            let ty = resolve_type(&column.ty, collation, BareLength::One)?;
            if column.as_json && !(ty.is_unicode() && ty.is_max()) {
                return Err(SqlError::new(
                    13618,
                    "AS JSON option can be specified only for column of nvarchar(max) type in WITH \
                     clause.",
                ));
            }
            let path = match &column.path {
                Some(path) => path.clone(),
                None => format!("$.\"{}\"", column.name.name.replace('"', "\\\"")),
            };
            columns.push(meta(&column.name.name, &ty, true));
            fields.push(JsonField {
                path,
                ty,
                as_json: column.as_json,
            });
        }
        Ok((Some(fields), columns))
    }

    /// Other table functions.
    pub(super) fn bind_table_function(
        &mut self,
        name: &'a ObjectName,
        args: &'a [Expr],
        alias: Option<&Ident>,
        names: &'a [Ident],
    ) -> SqlResult<Rel> {
        match name.parts.as_slice() {
            [single]
                if single.name.eq_ignore_ascii_case("string_split")
                    && self.ctx.database.has_open_json() =>
            {
                self.bind_string_split(args, alias, names)
            }
            [schema, function] => {
                let full = format!("{}.{}", schema.name, function.name).to_lowercase();
                Err(refusal(Kind::View, &full).unwrap_or_else(|| invalid_object(name)))
            }
            _ => Err(invalid_object(name)),
        }
    }

    fn bind_string_split(
        &mut self,
        args: &'a [Expr],
        alias: Option<&Ident>,
        names: &'a [Ident],
    ) -> SqlResult<Rel> {
        let (text, separator) = match args {
            [text, separator] => (text, separator),
            [_, _, _] => {
                let what =
                    "the argument enable_ordinal of STRING_SPLIT, newer than SQL Server 2019";
                return Err(SqlError::unsupported(what));
            }
            _ => return Err(argument_count("string_split", 2)),
        };
        let text = self.bind_expr(text)?;
        let separator = self.bind_expr(separator)?;
        let collation = text.ty.collation().unwrap_or(self.ctx.database.collation);
        let unicode = text.ty.is_unicode() || separator.ty.is_unicode();
        let ty = match text.ty.length().filter(|_| text.ty.is_string()) {
            Some(Length::Limited(n)) if unicode => DataType::nvarchar(n.min(4000), collation),
            Some(Length::Max) if unicode => DataType::NVarChar(Length::Max, collation),
            Some(length) => DataType::VarChar(length, collation),
            None => DataType::nvarchar(4000, collation),
        };
        let text = coerce(text, &ty)?;
        let separator = coerce(separator, &DataType::nvarchar(4000, collation))?;
        let mut columns = vec![meta("value", &ty, true)];
        let exposed = alias.map_or("", |a| a.name.as_str());
        rename(&mut columns, names, exposed)?;
        let node = |base| Node::StringSplit {
            text,
            separator,
            base,
        };
        self.add_other(node, columns, exposed, true)
    }
}

/// What OPENJSON is where it is no word of the language: a function that nobody has created, and after which there is
/// no WITH.
fn not_at_this_level(with: bool) -> SqlError {
    if with {
        return with_needs_semicolon(0);
    }
    no_object("OPENJSON", 1)
}

/// The columns of OPENJSON without WITH.
fn default_columns(collation: Collation) -> Vec<ColumnMeta> {
    vec![
        meta(
            "key",
            &DataType::nvarchar(4000, Collation::Latin1Bin2),
            false,
        ),
        meta("value", &DataType::nvarchar_max(collation), true),
        meta("type", &DataType::TinyInt, false),
    ]
}
