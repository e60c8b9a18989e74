//! Column types with their lengths, precision and scale.
//!
//! The driver's API names a column's type without its length. The whole of it stands only in what the
//! driver tells `tracing` about each COLMETADATA, so that is what is read here.

/// The types of the columns, from the driver's description of a COLMETADATA token.
pub fn column_types(described: &str) -> Vec<String> {
    described
        .split("BaseMetaDataColumn {")
        .skip(1)
        .map(|column| match column.split_once(" ty: ") {
            Some((_, ty)) => type_of(ty),
            None => "other".to_owned(),
        })
        .collect()
}

fn type_of(text: &str) -> String {
    if let Some(fixed) = text.strip_prefix("FixedLen(") {
        return fixed_type(word(fixed)).to_owned();
    }
    if text.starts_with("VarLenSizedPrecision") {
        let precision = number_after(text, "precision: ");
        let scale = number_after(text, "scale: ");
        return format!("decimal({precision},{scale})");
    }
    let name = text.split_once("type: ").map_or("", |(_, rest)| word(rest));
    sized_type(name, number_after(text, "len: "))
}

fn fixed_type(name: &str) -> &'static str {
    match name {
        "Bit" => "bit",
        "Int1" => "tinyint",
        "Int2" => "smallint",
        "Int4" | "Null" => "int",
        "Int8" => "bigint",
        "Float4" => "real",
        "Float8" => "float",
        "Money" => "money",
        "Money4" => "smallmoney",
        "Datetime" => "datetime",
        "Datetime4" => "smalldatetime",
        _ => "other",
    }
}

fn sized_type(name: &str, len: usize) -> String {
    let by_width = |list: [(usize, &str); 4]| {
        let found = list.iter().find(|(width, _)| *width == len);
        found.map_or("other", |(_, name)| *name).to_owned()
    };
    match name {
        "Bitn" => "bit".to_owned(),
        "Guid" => "uniqueidentifier".to_owned(),
        "Daten" => "date".to_owned(),
        "Intn" => by_width([(1, "tinyint"), (2, "smallint"), (4, "int"), (8, "bigint")]),
        "Floatn" => by_width([(4, "real"), (8, "float"), (0, ""), (0, "")]),
        "Money" => by_width([(4, "smallmoney"), (8, "money"), (0, ""), (0, "")]),
        "Datetimen" => by_width([(4, "smalldatetime"), (8, "datetime"), (0, ""), (0, "")]),
        "Timen" => format!("time({len})"),
        "Datetime2" => format!("datetime2({len})"),
        "DatetimeOffsetn" => format!("datetimeoffset({len})"),
        "BigVarBin" => limited("varbinary", len, 1),
        "BigBinary" => limited("binary", len, 1),
        "BigVarChar" => limited("varchar", len, 1),
        "BigChar" => limited("char", len, 1),
        "NVarchar" => limited("nvarchar", len, 2),
        "NChar" => limited("nchar", len, 2),
        "SSVariant" => "sql_variant".to_owned(),
        _ => "other".to_owned(),
    }
}

/// The wire counts bytes, T-SQL counts characters; 65,535 bytes stand for MAX.
fn limited(name: &str, bytes: usize, width: usize) -> String {
    if bytes > 8000 {
        return format!("{name}(max)");
    }
    format!("{name}({})", bytes / width)
}

fn word(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(text.len());
    &text[..end]
}

fn number_after(text: &str, label: &str) -> usize {
    text.split_once(label)
        .and_then(|(_, rest)| word(rest).parse().ok())
        .unwrap_or_default()
}

/// Whether a type is the expected one; a type written without its length stands for all lengths.
pub fn type_matches(expected: &str, actual: &str) -> bool {
    expected == "*" || expected == actual || actual.split('(').next() == Some(expected)
}
