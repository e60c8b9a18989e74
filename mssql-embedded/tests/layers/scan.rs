//! The paths that a source file writes, without a compiler.

/// A path that begins at the crate's root, and the line that it ends on.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    /// From the root: modules and then, perhaps, an item. `*` stands for a glob.
    pub path: Vec<String>,
    /// What it is called here: behind `as`, else the end of the path.
    pub name: String,
    /// 1-based.
    pub line: usize,
}

/// `#[path = "file"] mod name;`.
#[derive(Debug, PartialEq, Eq)]
pub struct Attached {
    pub file: String,
    pub name: String,
    /// 1-based.
    pub line: usize,
}

/// What a file says of others.
#[derive(Debug, Default)]
pub struct Scan {
    pub imports: Vec<Import>,
    pub attached: Vec<Attached>,
    /// The items that the file defines.
    pub defines: Vec<String>,
    /// What this scanner cannot follow, with its line.
    pub wrong: Vec<(usize, &'static str)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    text: String,
    line: usize,
}

const ITEMS: [&str; 9] = [
    "struct", "enum", "fn", "trait", "type", "const", "static", "union", "mod",
];

/// The absolute paths behind every `crate::`, `self::` and `super::` of a file whose module is `module`, and
/// behind every `use` as if its path began in that module: whoever knows the modules sees which do.
pub fn scan(module: &[String], source: &str) -> Scan {
    let tokens = tokens(source);
    let mut found = Scan::default();
    // The brace depths at which inline modules are open: `super` within one of them is a level deeper.
    let mut inline: Vec<(usize, String)> = Vec::new();
    let (mut at, mut depth) = (0, 0);
    while at < tokens.len() {
        let here = || {
            let mut here = module.to_vec();
            here.extend(inline.iter().map(|(_, name)| name.clone()));
            here
        };
        let word = tokens[at].text.as_str();
        if ITEMS.contains(&word)
            || (word == "!" && at > 0 && text(&tokens, at - 1) == "macro_rules")
        {
            found.defines.push(text(&tokens, at + 1).to_owned());
        }
        match word {
            "mod" if text(&tokens, at + 2) == "{" => {
                depth += 1;
                inline.push((depth, tokens[at + 1].text.clone()));
                at += 3;
                continue;
            }
            // The name of a module that a macro makes is a variable of the macro.
            "mod" if text(&tokens, at + 1) == "$" && text(&tokens, at + 3) == "{" => {
                depth += 1;
                inline.push((depth, tokens[at + 2].text.clone()));
                at += 4;
                continue;
            }
            "{" => depth += 1,
            "}" => {
                if inline.last().is_some_and(|(opened, _)| *opened == depth) {
                    inline.pop();
                }
                depth = usize::saturating_sub(depth, 1);
            }
            "#" if text(&tokens, at + 1) == "[" => attribute(&tokens, at + 2, &mut found),
            "crate" | "super" if text(&tokens, at + 1) == "as" => {
                found
                    .wrong
                    .push((tokens[at].line, "gives a module above another name"));
            }
            "crate" | "self" | "super"
                if text(&tokens, at + 1) == "::" && (at == 0 || text(&tokens, at - 1) != "::") =>
            {
                at = tree(&tokens, at, &here(), &mut found);
                continue;
            }
            "use"
                if !matches!(
                    text(&tokens, at + 1),
                    "crate" | "self" | "super" | "::" | "<"
                ) =>
            {
                at = tree(&tokens, at + 1, &here(), &mut found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn text(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |t| t.text.as_str())
}

/// Looks for `path = "file"` in the attribute that begins at `at`, and for the module behind it.
fn attribute(tokens: &[Token], mut at: usize, found: &mut Scan) {
    let mut file = None;
    while at < tokens.len() && text(tokens, at) != "]" {
        if text(tokens, at) == "path" && text(tokens, at + 1) == "=" {
            file = text(tokens, at + 2).strip_prefix('"');
        }
        at += 1;
    }
    if let Some(file) = file {
        while at < tokens.len() && text(tokens, at) != "mod" {
            at += 1;
        }
        found.attached.push(Attached {
            file: file.trim_end_matches('"').to_owned(),
            name: text(tokens, at + 1).to_owned(),
            line: tokens.get(at).map_or(0, |t| t.line),
        });
    }
}

/// Reads one path, or a tree of paths in braces, from `at`; where it ends.
fn tree(tokens: &[Token], mut at: usize, prefix: &[String], found: &mut Scan) -> usize {
    let mut path = prefix.to_vec();
    let mut first = true;
    loop {
        let line = tokens.get(at).map_or(0, |t| t.line);
        match text(tokens, at) {
            "crate" if first => path.clear(),
            "super" => {
                path.pop();
            }
            "self" => {}
            "{" => {
                at += 1;
                while at < tokens.len() && text(tokens, at) != "}" {
                    at = match text(tokens, at) {
                        "," => at + 1,
                        _ => tree(tokens, at, &path, found),
                    };
                }
                return at + 1;
            }
            name => path.push(name.to_owned()),
        }
        first = false;
        let ends = text(tokens, at + 1) != "::";
        // `crate::a::f::<T>`: the path is over, and T is looked at for itself.
        let generic = !ends && text(tokens, at + 2) == "<";
        at += if ends { 1 } else { 2 };
        if ends || generic {
            let mut name = path.last().cloned().unwrap_or_default();
            if text(tokens, at) == "as" {
                text(tokens, at + 1).clone_into(&mut name);
                at += 2;
            }
            found.imports.push(Import { path, name, line });
            return at;
        }
    }
}

/// Words, `::`, texts with their quotes, and single signs; no comments, no other literals.
fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut list = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => until(&chars, at, "\n"),
            '/' if chars.get(at + 1) == Some(&'*') => after(&chars, at + 2, "*/"),
            '"' => {
                let end = string(&chars, at);
                list.push(Token {
                    text: chars[at..end].iter().collect(),
                    line,
                });
                end
            }
            '\'' => quote(&chars, at),
            'r' if raw(&chars, at).is_some() => raw(&chars, at).unwrap_or(at + 1),
            c if c.is_alphanumeric() || c == '_' => {
                let word: String = chars[at..]
                    .iter()
                    .take_while(|c| c.is_alphanumeric() || **c == '_')
                    .collect();
                let end = at + word.chars().count();
                list.push(Token { text: word, line });
                end
            }
            ':' if chars.get(at + 1) == Some(&':') => {
                list.push(Token {
                    text: "::".to_owned(),
                    line,
                });
                at + 2
            }
            c => {
                if !c.is_whitespace() {
                    list.push(Token {
                        text: c.to_string(),
                        line,
                    });
                }
                at + 1
            }
        };
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    list
}

/// Where `mark` begins, from `at` on.
fn until(chars: &[char], at: usize, mark: &str) -> usize {
    let mark: Vec<char> = mark.chars().collect();
    let rest = chars.get(at..).unwrap_or_default();
    rest.windows(mark.len())
        .position(|w| w == mark.as_slice())
        .map_or(chars.len(), |n| at + n)
}

fn after(chars: &[char], at: usize, mark: &str) -> usize {
    (until(chars, at, mark) + mark.chars().count()).min(chars.len())
}

/// The end of the string that begins at `at`.
fn string(chars: &[char], at: usize) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != '"' {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    (end + 1).min(chars.len())
}

/// The end of a character literal; a lifetime is only its tick.
fn quote(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => after(chars, at + 3, "'"),
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
}

/// The end of `r"…"` or `r#"…"#`, if there is one at `at`.
fn raw(chars: &[char], at: usize) -> Option<usize> {
    let inside_word = at > 0 && (chars[at - 1].is_alphanumeric() && chars[at - 1] != 'b');
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let opens = chars.get(at + 1 + hashes) == Some(&'"');
    (opens && !inside_word).then(|| {
        let close = format!("\"{}", "#".repeat(hashes));
        after(chars, at + 2 + hashes, &close)
    })
}
