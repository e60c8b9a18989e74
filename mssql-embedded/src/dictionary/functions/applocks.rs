//! APPLOCK_MODE and APPLOCK_TEST.

use crate::access::{AppResource, app_lock_mode, app_lock_test, app_mode};
use crate::dictionary::Call;
use crate::dictionary::metadata::metadata;

metadata! {
    "APPLOCK_MODE"(Name, Long, Name) -> Name => applock_mode,
    "APPLOCK_TEST"(Name, Long, Name, Name) -> Flag => applock_test,
}

/// `APPLOCK_MODE(principal, resource, owner)`.
fn applock_mode(call: &Call<'_>) -> Option<&'static str> {
    let name: Vec<u16> = call.text(1)?.encode_utf16().collect();
    let lock = resource(call, &name, 2)?;
    let source = call.source;
    Some(app_lock_mode(source.locks(), source.lock_owner(), &lock))
}

/// `APPLOCK_TEST(principal, resource, mode, owner)`.
fn applock_test(call: &Call<'_>) -> Option<bool> {
    let mode = app_mode(&call.text(2)?)?;
    let name: Vec<u16> = call.text(1)?.encode_utf16().collect();
    let lock = resource(call, &name, 3)?;
    let source = call.source;
    Some(app_lock_test(
        source.locks(),
        source.lock_owner(),
        &lock,
        mode,
    ))
}

/// The lock of a name; the argument `owner` says whether the session or its transaction has it.
fn resource<'n>(call: &Call<'_>, name: &'n [u16], owner: usize) -> Option<AppResource<'n>> {
    Some(AppResource {
        database: call.database.id,
        principal: 0,
        name,
        session: call.text(owner)?.eq_ignore_ascii_case("session"),
    })
}
