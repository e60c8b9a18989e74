//! Splitting scripts at GO. The server never sees GO; clients such as sqlcmd cut the script at it.

/// The batches of a script, each with the number of times it is to be run (`GO 3`).
///
/// A separator is a line that holds nothing but `GO`, in any case, and an optional count. As in
/// sqlcmd, such a line inside a comment or a string does not separate. Batches without text are left
/// out.
pub fn split_go(script: &str) -> Vec<(&str, u32)> {
    let mut batches = Vec::new();
    let mut start = 0;
    let mut offset = 0;
    let mut state = State::Code;
    for line in script.split_inclusive('\n') {
        if matches!(state, State::Code)
            && let Some(count) = separator(line)
        {
            push(&mut batches, &script[start..offset], count);
            start = offset + line.len();
        } else {
            state = state.after(line);
        }
        offset += line.len();
    }
    push(&mut batches, &script[start..], 1);
    batches
}

fn push<'a>(batches: &mut Vec<(&'a str, u32)>, text: &'a str, count: u32) {
    if !text.trim().is_empty() {
        batches.push((text, count));
    }
}

/// The repeat count of a GO line.
fn separator(line: &str) -> Option<u32> {
    let line = line.split("--").next().unwrap_or_default();
    let mut words = line.split_whitespace();
    if !words.next()?.eq_ignore_ascii_case("go") {
        return None;
    }
    match (words.next(), words.next()) {
        (None, _) => Some(1),
        (Some(count), None) => count.parse().ok(),
        _ => None,
    }
}

/// What a line begins inside of.
#[derive(Clone, Copy)]
enum State {
    Code,
    /// Block comments, which nest.
    Comment(u32),
    /// A string or delimited identifier, by its closing mark.
    Quoted(u8),
}

impl State {
    fn after(self, line: &str) -> Self {
        let bytes = line.as_bytes();
        let mut state = self;
        let mut at = 0;
        while let Some(&b) = bytes.get(at) {
            let next = bytes.get(at + 1).copied();
            at += 1;
            state = match (state, b, next) {
                (Self::Code, b'-', Some(b'-')) => return Self::Code,
                (Self::Code, b'/', Some(b'*')) => {
                    at += 1;
                    Self::Comment(1)
                }
                (Self::Code, b'\'' | b'"', _) => Self::Quoted(b),
                (Self::Code, b'[', _) => Self::Quoted(b']'),
                (Self::Comment(n), b'/', Some(b'*')) => {
                    at += 1;
                    Self::Comment(n + 1)
                }
                (Self::Comment(n), b'*', Some(b'/')) => {
                    at += 1;
                    if n == 1 {
                        Self::Code
                    } else {
                        Self::Comment(n - 1)
                    }
                }
                // A doubled mark closes and opens again at once, which comes to the same.
                (Self::Quoted(close), b, _) if b == close => Self::Code,
                (state, _, _) => state,
            };
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GO separates on its own line only, with a count, outside comments and strings.
    #[test]
    fn split_go_cuts_at_lines_that_hold_only_go() {
        let script = "select 1\ngo\n/* \ngo\n*/ select '\ngo\n'\nGO 3 -- thrice\n\ngo\nselect 2 go";
        let batches = split_go(script);
        assert_eq!(
            batches,
            vec![
                ("select 1\n", 1),
                ("/* \ngo\n*/ select '\ngo\n'\n", 3),
                ("select 2 go", 1)
            ]
        );
    }
}
