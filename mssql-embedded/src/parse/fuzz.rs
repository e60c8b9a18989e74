//! A bounded, repeatable fuzz run: damaged scripts must give a tree or a clean error, quickly.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{ParseOptions, parse_batch, split_go};

/// Words and marks that steer the parser into as many corners as possible.
const SPICE: &[&str] = &[
    "(", ")", "((", ",", ";", ".", "..", "=", "<", "'", "''", "\"", "[", "]", "/*", "*/", "--",
    "@", "@@", "#", "$", "0x", "1e", "N'", "\n", "\0", "é", "😀", "::", ":", "+=", "SELECT",
    "FROM", "WHERE", "WITH", "AS", "ON", "BEGIN", "END", "TRY", "CATCH", "IF", "ELSE", "CASE",
    "WHEN", "THEN", "UNION", "VALUES", "INSERT", "UPDATE", "DELETE", "SET", "EXEC", "CREATE",
    "TABLE", "PROC", "NOT", "NULL", "IN", "EXISTS", "BETWEEN", "OVER", "JOIN", "APPLY", "THROW",
    "RETURN", "DECLARE", "GO", "OPENJSON", "FOR", "JSON", "TOP", "ORDER", "BY", "GRANT", "DROP",
];

/// Marsaglia's xorshift: the run is the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Every batch of the case files and of the shipped migrations.
fn seeds() -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("tests/cases"), here.join("../migrations")];
    let mut seeds = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "sql") {
                let script = std::fs::read_to_string(&path).expect("a readable script");
                let script = script.replace("$(s)", "s").replace("$(schema)", "s");
                seeds.extend(
                    split_go(&script)
                        .into_iter()
                        .map(|(text, _)| text.to_owned()),
                );
            }
        }
    }
    seeds.sort();
    assert!(seeds.len() > 50, "the seed scripts are missing");
    seeds
}

/// A place between two characters.
fn cut(text: &str, random: &mut Random) -> usize {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn mutate(text: &mut String, donor: &str, random: &mut Random) {
    let a = cut(text, random);
    let b = cut(text, random);
    let (low, high) = (a.min(b), a.max(b));
    match random.below(6) {
        0 => {
            let end = floor(text, high.min(low + 12)).max(low);
            text.replace_range(low..end, "");
        }
        1 => text.insert_str(a, SPICE[random.below(SPICE.len())]),
        2 => text.insert_str(a, &format!(" {} ", SPICE[random.below(SPICE.len())])),
        3 => {
            let piece = text[low..high].to_owned();
            text.insert_str(high, &piece);
        }
        4 => {
            let (c, d) = (cut(donor, random), cut(donor, random));
            text.insert_str(a, &donor[c.min(d)..c.max(d)]);
        }
        _ => text.truncate(high),
    }
}

#[track_caller]
fn survives(text: &str) {
    let started = Instant::now();
    for quoted_identifier in [true, false] {
        let options = ParseOptions {
            quoted_identifier,
            ..ParseOptions::default()
        };
        let result = parse_batch(text, options);
        if let Err(error) = result {
            assert!(error.number > 0 && !error.message.is_empty(), "{text}");
            assert!(error.line > 0 || error.number == 40517, "{error}\n{text}");
        }
    }
    assert!(started.elapsed() < Duration::from_secs(5), "slow: {text}");
}

/// Mutated scripts never panic or hang the parser.
#[test]
fn mutated_scripts_give_a_tree_or_an_error() {
    let seeds = seeds();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..20_000 {
        let mut text = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(4) {
            let donor = random.below(seeds.len());
            mutate(&mut text, &seeds[donor], &mut random);
            text.truncate(floor(&text, 20_000));
        }
        survives(&text);
    }
}

/// So do token soups that no script resembles.
#[test]
fn random_tokens_give_a_tree_or_an_error() {
    let mut random = Random(42);
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..random.below(60) {
            text.push_str(SPICE[random.below(SPICE.len())]);
            if random.below(3) > 0 {
                text.push(' ');
            }
        }
        survives(&text);
    }
}

/// Time grows with the length of the text and not faster: a nesting-free text takes about as long as eight that
/// are an eighth of it each, where a quadratic parser would need eight times as long. Both are timed over the same
/// work, so that a busy machine slows both.
#[test]
fn long_scripts_take_linear_time() {
    let batch = |n: usize| "SELECT a, 'x' FROM t WHERE (a = 1 OR (b + 2) > 3);\n".repeat(n);
    let time = |text: &str, times: usize| {
        let started = Instant::now();
        for _ in 0..times {
            parse_batch(text, ParseOptions::default()).expect("a valid script");
        }
        started.elapsed()
    };
    let (short, long) = (batch(2_000), batch(16_000));
    let ratios = (0..5).map(|_| time(&long, 1).as_secs_f64() / time(&short, 8).as_secs_f64());
    let least = ratios.fold(f64::INFINITY, f64::min);
    assert!(least < 4.0, "{least} times as long as its parts");
}

fn floor(text: &str, max: usize) -> usize {
    let mut at = text.len().min(max);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
