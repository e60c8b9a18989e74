//! The names that a schema brings into the scripts: its own and those of its roles.

use crate::schema_name::SchemaName;

/// What a role of a schema is for; its name is the schema's, cut to fit, plus an underscore and this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Executes the procedures.
    Runtime,
    /// Reads the views without payloads.
    Observer,
    /// Reads the views with payloads.
    Inspector,
}

impl Role {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Runtime, "role"),
        (Self::Observer, "observer"),
        (Self::Inspector, "inspector"),
    ];

    /// Its name in the database.
    pub(crate) fn name(self, schema: &SchemaName) -> String {
        let suffix = match self {
            Self::Runtime => "_runtime",
            Self::Observer => "_observer",
            Self::Inspector => "_inspector",
        };
        let room = 128 - suffix.len();
        let units: Vec<u16> = schema.as_str().encode_utf16().take(room).collect();
        let mut name = String::from_utf16_lossy(&units);
        // Cutting between the halves of a surrogate pair leaves a replacement character.
        if name.ends_with(char::REPLACEMENT_CHARACTER) && units.len() == room {
            name.pop();
        }
        name + suffix
    }
}

/// What takes the place of the placeholders in the scripts of one schema.
pub(super) struct Names {
    placeholders: Vec<Placeholder>,
}

/// `[$(variable)]` or `N'$(variable)'`, without the opening mark, which stays.
struct Placeholder {
    opening: &'static str,
    text: String,
    /// The name as it stands between such marks, and the closing one.
    name: String,
}

impl Names {
    pub(super) fn of(schema: &SchemaName) -> Self {
        let roles = Role::ALL.map(|(role, variable)| (variable, role.name(schema)));
        let names = roles
            .into_iter()
            .chain([("schema", schema.as_str().to_owned())]);
        let placeholders = names.flat_map(|(variable, name)| {
            [
                Placeholder {
                    opening: "[",
                    text: format!("$({variable})]"),
                    name: name.replace(']', "]]") + "]",
                },
                Placeholder {
                    opening: "N'",
                    text: format!("$({variable})'"),
                    name: name.replace('\'', "''") + "'",
                },
            ]
        });
        Self {
            placeholders: placeholders.collect(),
        }
    }

    /// The text with the names in it. Any other dollar sign is left alone.
    pub(super) fn render(&self, text: &str) -> String {
        let mut rendered = String::with_capacity(text.len() + text.len() / 8);
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            rendered.push_str(&rest[..at]);
            rest = &rest[at..];
            let mut placeholders = self.placeholders.iter();
            let found =
                placeholders.find(|p| rendered.ends_with(p.opening) && rest.starts_with(&p.text));
            let (taken, put) = found.map_or(("$", "$"), |p| (p.text.as_str(), p.name.as_str()));
            rendered.push_str(put);
            rest = &rest[taken.len()..];
        }
        rendered.push_str(rest);
        rendered
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    #[test]
    fn no_placeholder_survives_rendering() {
        let names = Names::of(&SchemaName::new("a]b'c").unwrap());
        let source = Source::embedded();
        let migrations = source.migrations.iter().map(|migration| &migration.script);
        let others = [
            &source.create_schema,
            &source.teardown,
            &source.begin,
            &source.report,
        ];
        for script in source.repeatable.iter().chain(migrations).chain(others) {
            // Comments may speak about the variable; code may not use another form of it.
            for line in names.render(script.text).lines() {
                let code = line.split("--").next().unwrap_or_default();
                assert!(!code.contains("$("), "{}: {line}", script.file);
            }
        }
    }

    #[test]
    fn names_are_quoted_by_context() {
        let names = Names::of(&SchemaName::new("a]b'c").unwrap());
        assert_eq!(
            names.render("[$(schema)].t N'$(schema)'"),
            "[a]]b'c].t N'a]b''c'"
        );
        assert_eq!(
            names.render("[$(role)] N'$(role)'"),
            "[a]]b'c_runtime] N'a]b''c_runtime'"
        );
        assert_eq!(
            names.render("$(schema) [$(other)] N'$(schema) [$(role"),
            "$(schema) [$(other)] N'$(schema) [$(role"
        );
        assert_eq!(
            names.render("[$(observer)] N'$(inspector)'"),
            "[a]]b'c_observer] N'a]b''c_inspector'"
        );
    }

    #[test]
    fn role_names_fit_an_identifier() {
        let schema = SchemaName::new("x".repeat(128)).unwrap();
        assert_eq!(Role::Runtime.name(&schema), "x".repeat(120) + "_runtime");
        assert_eq!(
            Role::Inspector.name(&schema),
            "x".repeat(118) + "_inspector"
        );
        let schema = SchemaName::new("y".repeat(119) + "😀").unwrap();
        assert_eq!(Role::Runtime.name(&schema), "y".repeat(119) + "_runtime");
        let schema = SchemaName::new("y".repeat(118) + "😀").unwrap();
        assert_eq!(Role::Observer.name(&schema), "y".repeat(118) + "_observer");
    }
}
