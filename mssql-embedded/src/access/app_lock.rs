//! sp_getapplock and its kin.

use std::sync::Arc;
use std::time::Duration;

use super::acquire::WaitEnd;
use super::{Access, errors};
use crate::error::SqlResult;
use crate::interrupt::interrupt_error;
use crate::lock::{LockManager, LockOwner, Mode, Resource, Span, Strength};
use crate::storage::State;

/// A name that sessions agree to lock.
#[derive(Clone, Copy, Debug)]
pub struct AppResource<'n> {
    /// database_id: each database has its own names.
    pub database: i32,
    /// @DbPrincipal; 0 is public.
    pub principal: i32,
    /// @Resource, at most 255 code units, compared one by one.
    pub name: &'n [u16],
    /// @LockOwner is Session rather than Transaction.
    pub session: bool,
}

impl AppResource<'_> {
    fn resource(&self) -> Resource {
        Resource::Application {
            database: self.database,
            principal: self.principal,
            name: Arc::from(&self.name[..self.name.len().min(255)]),
        }
    }
}

/// The mode of @LockMode, if it is one of the five (compared without regard to case).
pub fn app_mode(name: &str) -> Option<Mode> {
    const MODES: [(&str, Mode); 5] = [
        ("Shared", Mode::S),
        ("Update", Mode::U),
        ("Exclusive", Mode::X),
        ("IntentShared", Mode::IS),
        ("IntentExclusive", Mode::IX),
    ];
    MODES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, mode)| *mode)
}

/// sp_getapplock: 0 when granted at once, 1 after a wait, -1 after the timeout, -3 as the victim of a
/// deadlock, which does not end the transaction.
///
/// # Errors
///
/// Only the error of an interrupt (-2 would go to a client that has stopped listening).
pub fn app_lock(
    a: &mut Access<'_, '_>,
    lock: &AppResource<'_>,
    mode: Mode,
    timeout: Option<Duration>,
) -> SqlResult<i32> {
    let span = if lock.session {
        Span::Session
    } else {
        Span::Transaction
    };
    match a.acquire_within(&lock.resource(), mode, span, timeout) {
        Ok((_, waited)) => Ok(i32::from(waited)),
        Err(WaitEnd::Timeout) => Ok(-1),
        Err(WaitEnd::Deadlock) => Ok(-3),
        Err(WaitEnd::Interrupted(interrupt)) => Err(interrupt_error(interrupt)),
    }
}

/// sp_releaseapplock: a lock taken several times must be released as often.
///
/// # Errors
///
/// 1223 if it is not held.
pub fn app_unlock(state: &mut State, owner: LockOwner, lock: &AppResource<'_>) -> SqlResult<()> {
    let resource = lock.resource();
    if state
        .locks
        .release_application(owner, &resource, lock.session)
    {
        Ok(())
    } else {
        Err(errors::application_lock_not_held(lock.name))
    }
}

pub fn app_lock_mode(
    locks: &LockManager,
    owner: LockOwner,
    lock: &AppResource<'_>,
) -> &'static str {
    let held = locks.held_application(owner, &lock.resource(), lock.session);
    match held.map(|mode| mode.strength) {
        Some(Strength::S) => "Shared",
        Some(Strength::U) => "Update",
        Some(Strength::X) => "Exclusive",
        Some(Strength::IS) => "IntentShared",
        Some(Strength::IX) => "IntentExclusive",
        Some(Strength::SIX) => "*SharedIntentExclusive",
        Some(Strength::UIX) => "*UpdateIntentExclusive",
        Some(Strength::Null | Strength::SchS | Strength::SchM) | None => "NoLock",
    }
}

/// APPLOCK_TEST: whether the lock could be had at once.
pub fn app_lock_test(
    locks: &LockManager,
    owner: LockOwner,
    lock: &AppResource<'_>,
    mode: Mode,
) -> bool {
    locks.available(owner, &lock.resource(), mode)
}
