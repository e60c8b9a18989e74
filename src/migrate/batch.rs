//! Splits a script into batches at its GO lines, as sqlcmd does.

/// A batch and the line of the script on which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batch<'a> {
    pub(crate) text: &'a str,
    pub(crate) first_line: usize,
}

/// Where the splitter is in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Code,
    /// A comment between slash-star pairs, which nest.
    Comment(u32),
    /// A string or a delimited identifier, up to this character.
    Quoted(char),
}

/// Splits at lines that hold nothing but GO. A GO inside a string, a delimited identifier or a
/// block comment separates nothing. Empty batches are left out.
pub(crate) fn split(script: &str) -> Vec<Batch<'_>> {
    let mut batches = Vec::new();
    let mut inside = Inside::Code;
    let (mut start, mut start_line, mut at) = (0, 1, 0);
    for (number, line) in (1..).zip(script.split_inclusive('\n')) {
        if inside == Inside::Code && line.trim().eq_ignore_ascii_case("go") {
            push(&mut batches, &script[start..at], start_line);
            (start, start_line) = (at + line.len(), number + 1);
        } else {
            inside = scan(inside, line);
        }
        at += line.len();
    }
    push(&mut batches, &script[start..], start_line);
    batches
}

fn push<'a>(batches: &mut Vec<Batch<'a>>, text: &'a str, first_line: usize) {
    if !text.trim().is_empty() {
        batches.push(Batch { text, first_line });
    }
}

fn scan(mut inside: Inside, line: &str) -> Inside {
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        inside = match (inside, c, next) {
            (Inside::Code, '-', Some('-')) => return Inside::Code,
            (Inside::Code, '/', Some('*')) => {
                chars.next();
                Inside::Comment(1)
            }
            (Inside::Code, '\'' | '"', _) => Inside::Quoted(c),
            (Inside::Code, '[', _) => Inside::Quoted(']'),
            (Inside::Comment(depth), '/', Some('*')) => {
                chars.next();
                Inside::Comment(depth + 1)
            }
            (Inside::Comment(depth), '*', Some('/')) => {
                chars.next();
                if depth == 1 {
                    Inside::Code
                } else {
                    Inside::Comment(depth - 1)
                }
            }
            // A doubled quote closes and reopens, which comes to the same.
            (Inside::Quoted(close), _, _) if c == close => Inside::Code,
            (unchanged, _, _) => unchanged,
        };
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<&str> {
        split(script)
            .into_iter()
            .map(|batch| batch.text.trim())
            .collect()
    }

    #[test]
    fn go_lines_separate_in_any_case_and_spacing() {
        assert_eq!(texts("a\nGO\nb\n  go  \nc\r\nGo\r\n"), ["a", "b", "c"]);
    }

    #[test]
    fn empty_batches_are_left_out() {
        assert_eq!(texts("GO\n\nGO\na\nGO\nGO\n"), ["a"]);
        assert!(texts("").is_empty());
    }

    #[test]
    fn go_inside_text_separates_nothing() {
        for script in [
            "SELECT 'x\nGO\ny'",
            "SELECT [x\nGO\ny]",
            "SELECT 'it''s\nGO\n'",
            "/* x\nGO\n*/ a",
            "/* /* */\nGO\n*/ a",
            "\"x\nGO\n\"",
        ] {
            assert_eq!(texts(script), [script]);
        }
    }

    #[test]
    fn quotes_in_comments_do_not_open_text() {
        assert_eq!(texts("-- it's\nGO\nb"), ["-- it's", "b"]);
        assert_eq!(texts("/* it's */\nGO\nb"), ["/* it's */", "b"]);
    }

    #[test]
    fn words_that_begin_with_go_are_not_separators() {
        assert_eq!(texts("GOTO x\nGO_ON"), ["GOTO x\nGO_ON"]);
    }

    #[test]
    fn batches_know_their_first_line() {
        let lines: Vec<_> = split("a\nGO\n\nb\nGO\nc")
            .into_iter()
            .map(|batch| batch.first_line)
            .collect();
        assert_eq!(lines, [1, 3, 6]);
    }
}
