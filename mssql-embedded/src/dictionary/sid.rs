//! Security identifiers.

/// The SID of a login: the id in a fixed frame, except for sa, whose SID is 0x01 everywhere.
pub(super) fn sid(login: i32) -> Vec<u8> {
    if login == 1 {
        return vec![1];
    }
    let mut sid = vec![0u8; 16];
    sid[..4].copy_from_slice(&login.to_le_bytes());
    sid
}
