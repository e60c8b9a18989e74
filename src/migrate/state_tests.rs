//! Every state a schema can be in, and what is made of it.

use super::*;
use crate::migrate::source::RELEASE;

fn schema() -> SchemaName {
    SchemaName::new("orders").unwrap()
}

/// The state right after an installation by this build.
fn installed() -> State {
    let source = Source::embedded();
    State {
        schema_exists: true,
        has_ledger: true,
        has_procedures: true,
        migrations: source
            .migrations
            .iter()
            .map(|m| Applied {
                number: m.number,
                name: m.name.clone(),
                checksum: m.checksum.clone(),
            })
            .collect(),
        release: Some(Release {
            release: RELEASE.to_owned(),
            order: source.release_order,
            checksum: source.repeatable_checksum.clone(),
        }),
    }
}

fn plan(state: &State) -> Result<Plan, MigrateError> {
    state.plan(Source::embedded(), &schema())
}

fn verify(state: &State) -> Result<(), MigrateError> {
    state.verify(Source::embedded(), &schema())
}

#[test]
fn fresh_schema_needs_everything() {
    let fresh = State::default();
    assert_eq!(
        plan(&fresh).unwrap(),
        Plan {
            first_migration: 0,
            procedures: true
        }
    );
    assert!(matches!(
        verify(&fresh),
        Err(MigrateError::NotInstalled { .. })
    ));
    let empty_schema = State {
        schema_exists: true,
        ..State::default()
    };
    assert_eq!(
        plan(&empty_schema).unwrap(),
        Plan {
            first_migration: 0,
            procedures: true
        }
    );
}

#[test]
fn current_schema_needs_nothing() {
    let state = installed();
    assert!(plan(&state).unwrap().is_empty(Source::embedded()));
    assert_eq!(verify(&state), Ok(()));
    // A login that may only execute does not see the tables.
    assert_eq!(
        verify(&State {
            has_ledger: false,
            ..installed()
        }),
        Ok(())
    );
}

#[test]
fn newer_schema_is_refused() {
    let mut state = installed();
    let knows = Source::embedded().newest();
    state.migrations.push(Applied {
        number: knows + 2,
        name: "later.sql".into(),
        checksum: "x".into(),
    });
    let expected = MigrateError::Ahead {
        schema: "[orders]".into(),
        at: knows + 2,
        knows,
    };
    assert_eq!(plan(&state).unwrap_err(), expected);
    assert_eq!(verify(&state).unwrap_err(), expected);
    assert!(
        expected
            .to_string()
            .contains("upgrade the crate or choose another schema")
    );
}

#[test]
fn altered_migration_is_refused() {
    let mut state = installed();
    state.migrations[0].checksum = "other".into();
    let message = plan(&state).unwrap_err().to_string();
    assert!(
        message.contains("differs from the one applied"),
        "{message}"
    );
    assert!(verify(&state).is_err());
}

#[test]
fn older_procedures_are_replaced_and_newer_ones_left_alone() {
    let mut state = installed();
    let release = state.release.as_mut().unwrap();
    release.order -= 1;
    assert!(plan(&state).unwrap().procedures);
    assert!(matches!(verify(&state), Err(MigrateError::Behind { .. })));

    let mut state = installed();
    let release = state.release.as_mut().unwrap();
    (release.order, release.checksum) = (release.order + 1, "newer".into());
    assert!(!plan(&state).unwrap().procedures);
    assert_eq!(verify(&state), Ok(()));
}

#[test]
fn procedures_of_the_same_release_with_another_text_are_replaced() {
    let mut state = installed();
    state.release.as_mut().unwrap().checksum = "edited".into();
    assert!(plan(&state).unwrap().procedures);
    assert!(matches!(verify(&state), Err(MigrateError::Altered { .. })));
}

#[test]
fn half_installed_schema_is_named_as_such() {
    let tables_only = State {
        schema_exists: true,
        has_ledger: true,
        ..State::default()
    };
    let no_entries = State {
        migrations: Vec::new(),
        release: None,
        ..installed()
    };
    for state in [tables_only, no_entries] {
        assert!(
            matches!(plan(&state), Err(MigrateError::HalfInstalled { .. })),
            "{state:?}"
        );
        assert!(
            matches!(verify(&state), Err(MigrateError::HalfInstalled { .. })),
            "{state:?}"
        );
    }
}
