//! The words of a procedure that promise something about locks, paths, order and settings.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::tokens::{Token, tokens};

/// What a word is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A hint that says what is locked, how long, and what is read past.
    Lock,
    /// A hint that says by which index.
    Path,
    Order,
    /// A SET of the session.
    Setting,
    Distinct,
    /// An option of a statement or a commit.
    Choice,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::Lock,
        Self::Path,
        Self::Order,
        Self::Setting,
        Self::Distinct,
        Self::Choice,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Path => "path",
            Self::Order => "order",
            Self::Setting => "setting",
            Self::Distinct => "distinct",
            Self::Choice => "choice",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == text);
        known.ok_or_else(|| format!("{text} is no kind of word"))
    }
}

/// A word and the text to be cut so that it is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub kind: Kind,
    pub name: String,
    /// Where the word itself begins.
    pub start: usize,
    pub cut: Range<usize>,
}

const LOCKS: [&str; 14] = [
    "HOLDLOCK",
    "NOLOCK",
    "NOWAIT",
    "PAGLOCK",
    "READCOMMITTED",
    "READCOMMITTEDLOCK",
    "READPAST",
    "READUNCOMMITTED",
    "REPEATABLEREAD",
    "ROWLOCK",
    "SERIALIZABLE",
    "TABLOCK",
    "UPDLOCK",
    "XLOCK",
];
const PATHS: [&str; 3] = ["FORCESCAN", "FORCESEEK", "INDEX"];
const SETTINGS: [&str; 6] = [
    "ARITHABORT",
    "DEADLOCK_PRIORITY",
    "LOCK_TIMEOUT",
    "NOCOUNT",
    "TRANSACTION",
    "XACT_ABORT",
];

/// Every such word of a script, in its order.
pub fn words(text: &str) -> Vec<Word> {
    let tokens = tokens(text);
    let mut words = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = |n: usize| tokens.get(at + n).map_or("", |token| token.text);
        if token.is("WITH") && next(1) == "(" {
            words.extend(with(text, &tokens[at..]));
        } else if token.is("OPTION") && next(1) == "(" {
            words.extend(list(text, &tokens[at..], |_| Some(Kind::Choice)));
        } else if token.is("ORDER") && next(1).eq_ignore_ascii_case("BY") {
            words.extend(order(text, &tokens[at..]));
        } else if token.is("SET") && SETTINGS.iter().any(|s| next(1).eq_ignore_ascii_case(s)) {
            words.extend(setting(text, &tokens[at..]));
        } else if token.is("DISTINCT") {
            words.push(Word {
                kind: Kind::Distinct,
                name: "DISTINCT".to_owned(),
                start: token.start,
                cut: token.start..token.end(),
            });
        }
    }
    words
}

fn with(text: &str, tokens: &[Token<'_>]) -> Vec<Word> {
    if tokens[2].is("DELAYED_DURABILITY") {
        return list(text, tokens, |_| Some(Kind::Choice));
    }
    // WITH also begins the columns of OPENJSON, whose names are none of these.
    list(text, tokens, |word| {
        let is = |known: &&str| word.eq_ignore_ascii_case(known);
        if LOCKS.iter().any(&is) {
            Some(Kind::Lock)
        } else if PATHS.iter().any(is) {
            Some(Kind::Path)
        } else {
            None
        }
    })
}

/// The items of a parenthesised list; the keyword in front of it goes with the last one.
fn list(text: &str, tokens: &[Token<'_>], kind: impl Fn(&str) -> Option<Kind>) -> Vec<Word> {
    let mut items: Vec<Vec<Token<'_>>> = vec![Vec::new()];
    let mut depth = 0;
    let mut close = tokens[1];
    for token in &tokens[1..] {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            close = *token;
            break;
        }
        if depth == 1 && token.text == "," {
            items.push(Vec::new());
        } else if depth > 1 || token.text != "(" {
            items.last_mut().expect("there is one").push(*token);
        }
    }
    let whole = tokens[0].start..close.end();
    parts(text, &items, &whole, kind)
}

/// One word per item. An item goes with the comma in front of it, the first with the one behind it,
/// the only one with the whole.
fn parts(
    text: &str,
    items: &[Vec<Token<'_>>],
    whole: &Range<usize>,
    kind: impl Fn(&str) -> Option<Kind>,
) -> Vec<Word> {
    let mut words = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let (Some(first), Some(last)) = (item.first(), item.last()) else {
            continue;
        };
        let Some(kind) = kind(first.text) else {
            continue;
        };
        let end_of_previous = at.checked_sub(1).and_then(|before| items[before].last());
        let start_of_next = items.get(at + 1).and_then(|next| next.first());
        let cut = match (end_of_previous, start_of_next) {
            (Some(previous), _) => previous.end()..last.end(),
            (None, Some(next)) => first.start..next.start,
            (None, None) => whole.clone(),
        };
        words.push(Word {
            kind,
            name: named(&text[first.start..last.end()]),
            start: first.start,
            cut,
        });
    }
    words
}

fn order(text: &str, tokens: &[Token<'_>]) -> Option<Word> {
    let mut depth = 0;
    let mut last = tokens[0];
    for token in tokens {
        match token.text {
            "(" => depth += 1,
            ")" if depth == 0 => break,
            ")" => depth -= 1,
            ";" => break,
            _ => {}
        }
        // A page of rows needs an order to be one.
        if depth == 0 && token.is("OFFSET") {
            return None;
        }
        if depth == 0 && (token.is("OPTION") || token.is("FOR")) {
            break;
        }
        last = *token;
    }
    let cut = tokens[0].start..last.end();
    Some(Word {
        kind: Kind::Order,
        name: named(&text[cut.clone()]),
        start: cut.start,
        cut,
    })
}

fn setting(text: &str, tokens: &[Token<'_>]) -> Vec<Word> {
    let until = tokens.iter().position(|token| token.text == ";");
    let until = until.unwrap_or(tokens.len() - 1);
    let whole = tokens[0].start..tokens[until].end();
    let commas = tokens[..until].iter().filter(|t| t.text == ",").count();
    if commas == 0 {
        return vec![Word {
            kind: Kind::Setting,
            name: named(&text[tokens[0].start..tokens[until - 1].end()]),
            start: whole.start,
            cut: whole,
        }];
    }
    // SET a, b ON: the last item is followed by the value of all of them.
    let items: Vec<Vec<Token<'_>>> = tokens[1..until - 1]
        .split(|token| token.text == ",")
        .map(<[Token<'_>]>::to_vec)
        .collect();
    parts(text, &items, &whole, |_| Some(Kind::Setting))
}

/// The text of a word on one line.
fn named(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The script without a word. What is cut leaves its line breaks, so that the other words stay on
/// their lines.
pub fn without(text: &str, word: &Word) -> String {
    let breaks: String = text[word.cut.clone()]
        .chars()
        .filter(|c| *c == '\n')
        .collect();
    format!(
        "{} {breaks}{}",
        &text[..word.cut.start],
        &text[word.cut.end..]
    )
}
