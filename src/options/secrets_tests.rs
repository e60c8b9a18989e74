//! No part of a password is in a refusal or in a setting that is shown, however it was mistyped.

use super::*;

/// Three words that are in no message of ours, so that any part of a password is noticed.
const WORDS: [&str; 3] = ["Xqzka", "Wvjyb", "Zkxqc"];

/// Every character that a keyboard gives, and some that it does not.
fn characters() -> impl Iterator<Item = char> + Clone {
    (' '..='~').chain(['\t', 'ä', '€', '\u{a0}', '😀'])
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The ways to write this password, right and wrong.
fn strings(password: &str) -> Vec<String> {
    let doubled = |c: char| password.replace(c, &format!("{c}{c}"));
    vec![
        format!("server=h;user id=u;password={password}"),
        format!("server=h;user id=u;password={password};database=d;encrypt=true"),
        format!("password={password};server=h;user id=u"),
        format!("server=h;user id=u;password='{password}'"),
        format!("server=h;user id=u;password='{}';database=d", doubled('\'')),
        format!("server=h;user id=u;password=\"{password}\";database=d"),
        format!("server=h;user id=u;pwd={{{password}}};database=d"),
        format!(
            "server=h;user id=u;password={};database=d",
            percent(password)
        ),
        format!("server=h password={password};user id=u"),
        format!("server=tcp:h,1433 password={password};user id=u"),
        format!("server=h,password={password};user id=u"),
        format!("server=h;user id=u password={password};database=d"),
        format!("server=h;database=d,pwd = {password};user id=u"),
        format!("server=h;user id=u;password:{password}"),
        format!("server=h;user id=u;password {password}=x"),
        format!("server=h;user id=u;pasword={password}"),
        format!("sqlserver://u:{password}@h/d"),
        format!("sqlserver://u:{password}@h:1433/d?encrypt=true"),
        format!("sqlserver://u:{password}@[::1]:1433"),
        format!("sqlserver://u:{}@h/d", percent(password)),
        format!("sqlserver://h/d?user=u&password={password}"),
        format!("sqlserver://h/d?user=u&password={password}&encrypt=true"),
        format!("sqlserver://h:1433;user=u;password={password}"),
        format!("jdbc:sqlserver://h:1433;user=u;password={password}"),
        format!("Driver={{ODBC Driver 18}};server=h;uid=u;pwd={password}"),
        format!("postgres://u:{password}@h/d"),
        format!("u:{password}@h/d"),
    ]
}

/// What anybody may see of the settings.
fn seen(text: &str) -> String {
    let builder = MssqlProviderBuilder::new(text);
    let shown = format!("{builder:?}");
    match builder.resolve() {
        Ok(options) => format!(
            "{shown} {options:?} {} {:?} {:?} {:?} {:?}",
            options.server(),
            options.application_name,
            options.workstation_id,
            options.host_name_in_certificate,
            options.trust_ca_file,
        ),
        Err(error) => format!("{shown} {error} {error:?}"),
    }
}

fn check(password: &str) {
    for text in strings(password) {
        let seen = seen(&text).to_lowercase();
        for word in WORDS {
            assert!(!seen.contains(&word.to_lowercase()), "{text}\n{seen}");
        }
    }
}

#[test]
fn no_part_of_a_password_is_shown_whatever_characters_it_has() {
    let [one, two, three] = WORDS;
    for a in characters() {
        for b in " ;'\"{}=@/?:%&#,[".chars() {
            check(&format!("{one}{a}{two}{b}{three}"));
        }
    }
}

#[test]
fn no_part_of_a_password_is_shown_when_it_looks_like_options() {
    let [one, two, three] = WORDS;
    for middle in [
        format!(";{two}="),
        format!("';{two}="),
        format!("\";{two}='"),
        format!("}};{two}={{"),
        format!("/?{two}="),
        format!("@{two}:"),
        format!("@{two}/"),
        format!("://{two}@"),
        format!("?encrypt={two}&"),
        format!(";encrypt={two};port="),
        format!("&port={two}&"),
        format!("%{two}%2"),
    ] {
        check(&format!("{one}{middle}{three}"));
    }
}

/// The right ways to write a password arrive as it is.
#[test]
fn escaped_passwords_arrive() {
    let [one, two, _] = WORDS;
    for c in characters() {
        let password = format!("{one}{c}{two}");
        let quoted = password.replace('\'', "''");
        for text in [
            format!("server=h;user id=u;password='{quoted}'"),
            format!("sqlserver://u:{}@h/d", percent(&password)),
        ] {
            let options = MssqlProviderBuilder::new(&text).resolve().unwrap();
            let Identity::SqlLogin { password: read, .. } = options.identity else {
                panic!("{text}");
            };
            assert_eq!(read, password, "{text}");
        }
    }
}
