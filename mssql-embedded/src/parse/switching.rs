//! SET QUOTED_IDENTIFIER within a text, which counts while the text is read.

use super::token::Tok;

/// Watches the tokens for SET QUOTED_IDENTIFIER: "As the batch is parsed, any occurrence of SET
/// QUOTED_IDENTIFIER will change the parsing behavior from that point on". Within CREATE PROCEDURE it
/// counts for nothing: a procedure keeps the setting that it was created with.
#[derive(Debug, Default)]
pub(super) struct Switching {
    /// How many tokens came before.
    seen: usize,
    /// The text begins with CREATE or ALTER.
    defines: bool,
    /// The text defines a procedure.
    procedure: bool,
    /// In the list of options after SET, and whether QUOTED_IDENTIFIER was among them.
    list: Option<bool>,
}

/// `CREATE OR ALTER PROCEDURE`: the word is the fourth at most.
const DEFINITION_WORDS: usize = 4;

impl Switching {
    /// Takes note of the next token; the new setting, if it completes one.
    pub fn see(&mut self, kind: Tok, text: &str) -> Option<bool> {
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        self.seen += 1;
        if self.seen == 1 {
            self.defines = is("CREATE") || is("ALTER");
        } else if self.seen <= DEFINITION_WORDS {
            self.procedure |= self.defines && (is("PROC") || is("PROCEDURE"));
        }
        if self.procedure {
            return None;
        }
        if is("SET") && kind == Tok::Reserved {
            self.list = Some(false);
            return None;
        }
        let named = self.list?;
        if is("QUOTED_IDENTIFIER") {
            self.list = Some(true);
        } else if is("ON") || is("OFF") {
            self.list = None;
            return named.then(|| is("ON"));
        } else if kind != Tok::Comma && kind != Tok::Word {
            self.list = None;
        }
        None
    }
}
