//! Every command in the documents exists, and is run by CI or cannot be.
//!
//! A command counts as existing when its program, package, example, test, file and flags do; the
//! sources of the programs are asked for the flags.

mod listed;

use std::path::{Path, PathBuf};

use listed::Run::{By, Never};
use listed::{COMMANDS, Run};

/// The documents whose commands are checked, besides everything in `docs/`.
const DOCUMENTS: [&str; 7] = [
    "README.md",
    "CONTRIBUTING.md",
    "cli/README.md",
    "migrations/README.md",
    "mssql-embedded/README.md",
    "mssql-embedded/tests/cases/README.md",
    "sql-stress/README.md",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn documents() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("docs")).expect("the folder of the documents");
    let files = folder.map(|entry| entry.expect("an entry").path());
    DOCUMENTS.iter().map(PathBuf::from).chain(files).collect()
}

/// The shell commands of a document: in its shell blocks, and in its text between backticks.
fn commands(document: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block: Option<&str> = None;
    let mut unfinished = String::new();
    for line in document.lines() {
        match (block, line.strip_prefix("```")) {
            (None, Some(language)) => block = Some(language),
            (Some(_), Some(_)) => block = None,
            (Some("sh"), None) => shell_line(line, &mut unfinished, &mut found),
            (Some("console"), None) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    shell_line(command, &mut unfinished, &mut found);
                }
            }
            (Some(_), None) => {}
            (None, None) => {
                let spans = line.split('`').skip(1).step_by(2);
                found.extend(spans.filter(|span| is_command(span)).map(str::to_owned));
            }
        }
    }
    assert!(unfinished.is_empty(), "{unfinished:?} goes on nowhere");
    found
}

fn is_command(span: &str) -> bool {
    let programs = [
        "cargo ",
        "sql-stress ",
        "duroxide-sql ",
        "docker ",
        "sqlcmd -",
        ".ci/",
    ];
    programs.iter().any(|program| span.starts_with(program)) && !span.ends_with('/')
}

/// Takes a line of a shell block: joins continued lines, removes comments, variables in front and
/// redirections, and splits at `&&`.
fn shell_line(line: &str, unfinished: &mut String, found: &mut Vec<String>) {
    let line = line.split(" #").next().unwrap_or_default().trim();
    if let Some(begin) = line.strip_suffix('\\') {
        unfinished.push_str(begin);
        return;
    }
    let whole = std::mem::take(unfinished) + line;
    for command in whole.split("&&") {
        let command = command.split(" > ").next().unwrap_or_default();
        let mut words = words(command);
        while words.first().is_some_and(|word| {
            let name = word.split('=').next().unwrap_or_default();
            word.contains('=') && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        }) {
            words.remove(0);
        }
        if !words.is_empty() {
            found.push(words.join(" "));
        }
    }
}

/// Words separated by spaces; what stands between quotes stays together.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == ' ' => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        words.last_mut().expect("a word").push(c);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The folder of a package of the workspace.
fn package(name: &str) -> Result<PathBuf, String> {
    match name {
        "duroxide-sql" => Ok(root().to_owned()),
        "mssql-embedded" | "sql-stress" => Ok(root().join(name)),
        "duroxide-sql-cli" => Ok(root().join("cli")),
        "client-bench" => Ok(root().join("benches")),
        _ => Err(format!("no package {name}")),
    }
}

fn exists(path: PathBuf) -> Result<PathBuf, String> {
    let known = path.exists();
    known
        .then(|| path.clone())
        .ok_or(format!("{} does not exist", path.display()))
}

/// Why a command cannot work, if it cannot.
fn check(command: &str) -> Result<(), String> {
    let words = words(command);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let (program, rest) = words.split_first().ok_or("an empty command")?;
    match *program {
        "cargo" => check_cargo(rest),
        "sql-stress" => check_stress(rest),
        "duroxide-sql" => check_tool(rest),
        "sqlcmd" => check_options(rest, &["-I", "-b"], &["-S", "-d", "-i", "-v"]),
        "docker" => (rest == ["compose", "up", "-d", "--wait"])
            .then_some(())
            .ok_or("another use of docker".into()),
        "git" => (matches!(rest, ["tag", _] | ["diff", "tests/it/golden"]))
            .then_some(())
            .ok_or("another use of git".into()),
        "$EDITOR" => rest
            .iter()
            .filter(|file| !file.contains('<') && !file.contains("NNNN"))
            .try_for_each(|file| exists(root().join(file)).map(drop)),
        script if script.starts_with(".ci/") => {
            let text = read(exists(root().join(script))?);
            rest.iter().try_for_each(|word| match word {
                flag if flag.starts_with("--") => text
                    .contains(*flag)
                    .then_some(())
                    .ok_or(format!("{script} does not know {flag}")),
                file => exists(root().join(file)).map(drop),
            })
        }
        other => Err(format!("unknown program {other}")),
    }
}

/// Flags that stand alone and options that take what follows; anything else may only follow.
fn check_options(rest: &[&str], flags: &[&str], options: &[&str]) -> Result<(), String> {
    let mut takes = false;
    for word in rest {
        match word {
            word if flags.contains(word) => takes = false,
            word if options.contains(word) => takes = true,
            word if word.starts_with('-') || !takes => return Err(format!("unknown {word}")),
            _ => {}
        }
    }
    Ok(())
}

fn check_cargo(rest: &[&str]) -> Result<(), String> {
    let (of_cargo, of_program) = match rest.iter().position(|word| *word == "--") {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, &[][..]),
    };
    let value = |option: &str| {
        let at = of_cargo.iter().position(|word| *word == option)?;
        of_cargo.get(at + 1).copied()
    };
    let name = value("-p").unwrap_or("duroxide-sql");
    let folder = package(name)?;
    let manifest = read(folder.join("Cargo.toml"));
    match of_cargo.first().copied().ok_or("cargo alone")? {
        "run" => {
            let options = ["-p", "--example", "--features"];
            check_options(&of_cargo[1..], &["--release"], &options)?;
            if let Some(feature) = value("--features")
                && !manifest.contains(&format!("\n{feature} = ["))
            {
                return Err(format!("{name} has no feature {feature}"));
            }
            let source = match value("--example") {
                Some(example) => {
                    let file = example.replace('-', "_");
                    let named = example == file || manifest.contains(&format!("\"{example}\""));
                    named.then_some(()).ok_or(format!("no example {example}"))?;
                    exists(folder.join(format!("examples/{file}.rs")))?
                }
                None if name == "sql-stress" => return check_stress(of_program),
                None if name == "duroxide-sql-cli" => return check_tool(of_program),
                None => exists(folder.join("src/main.rs"))?,
            };
            let source = read(source);
            let flags = of_program.iter().filter(|word| word.starts_with('-'));
            for flag in flags {
                // An example that leaves its command line to clap has a field for each option.
                let field = flag.trim_start_matches('-').replace('-', "_");
                let is_field = source.contains(&format!("\n    {field}: "));
                if !is_field && !source.contains(&format!("\"{flag}\"")) {
                    return Err(format!("{name} does not know {flag}"));
                }
            }
            Ok(())
        }
        "test" => check_cargo_test(&of_cargo[1..], value("--test"), &folder),
        "bench" => manifest
            .contains("[[bench]]")
            .then_some(())
            .ok_or(format!("{name} has no benchmark")),
        "install" => exists(root().join(value("--path").ok_or("which folder")?)).map(drop),
        "package" => check_options(&of_cargo[1..], &[], &["-p"]),
        other => Err(format!("unknown cargo {other}")),
    }
}

fn check_cargo_test(rest: &[&str], test: Option<&str>, folder: &Path) -> Result<(), String> {
    let Some(test) = test else {
        return check_options(rest, &["--workspace"], &["-p"]);
    };
    check_options(rest, &[], &["-p", "--test"])?;
    let single = folder.join(format!("tests/{test}.rs"));
    let several = folder.join(format!("tests/{test}"));
    if !single.exists() && !several.join("main.rs").exists() {
        return Err(format!("no test {test}"));
    }
    // A filter follows the test's name and is the name of a module.
    let at = rest.iter().position(|word| *word == test);
    match at.and_then(|at| rest.get(at + 1)) {
        Some(module) if !module.starts_with('-') => {
            let file = several.join(format!("{module}.rs"));
            exists(if file.exists() {
                file
            } else {
                several.join(module)
            })
            .map(drop)
        }
        _ => Ok(()),
    }
}

/// The options of the load tester are the fields of its command line, its words are scenarios.
fn check_stress(rest: &[&str]) -> Result<(), String> {
    let cli = read("sql-stress/src/cli.rs");
    let mut previous = "";
    for word in rest {
        if let Some(option) = word.strip_prefix("--") {
            let field = format!("    pub {}:", option.replace('-', "_"));
            if option != "help" && !cli.contains(&field) {
                return Err(format!("sql-stress does not know {word}"));
            }
        } else if !previous.starts_with("--") {
            let file = format!("sql-stress/src/scenarios/{}.rs", word.replace('-', "_"));
            exists(root().join(file))?;
        }
        previous = word;
    }
    Ok(())
}

/// The first word is a command of the tool, options are fields of its command line.
fn check_tool(rest: &[&str]) -> Result<(), String> {
    let cli = read("cli/src/args.rs");
    let (command, rest) = rest.split_first().ok_or("which command")?;
    let mut letters = command.chars();
    let first = letters.next().ok_or("which command")?.to_ascii_uppercase();
    let variant = format!("\n    {first}{}", letters.as_str());
    let known = [",", "(", " {"].map(|end| cli.contains(&format!("{variant}{end}")));
    if !known.contains(&true) {
        return Err(format!("duroxide-sql does not know {command}"));
    }
    for option in rest.iter().filter_map(|word| word.strip_prefix("--")) {
        let field = format!(" {}:", option.replace('-', "_"));
        if !cli.contains(&field) {
            return Err(format!("duroxide-sql does not know --{option}"));
        }
    }
    Ok(())
}

/// The longest entry of the list that a command begins with.
fn entry(command: &str) -> Option<&'static (&'static str, Run)> {
    let fits = |listed: &str| {
        let rest = command.strip_prefix(listed);
        // Programs that are listed without arguments stand for all their uses.
        let alone = !listed.contains(' ') && !listed.starts_with(".ci/");
        rest.is_some_and(|rest| rest.is_empty() || (alone && rest.starts_with(' ')))
    };
    COMMANDS.iter().find(|(listed, _)| fits(listed))
}

#[test]
fn every_command_of_the_documents_exists_and_is_accounted_for() {
    let mut problems = Vec::new();
    let mut used = std::collections::BTreeSet::new();
    let mut count = 0;
    for document in documents() {
        for command in commands(&read(&document)) {
            let place = document.display();
            count += 1;
            if let Err(reason) = check(&command) {
                problems.push(format!("{place}: {command}: {reason}"));
            }
            match entry(&command) {
                Some((listed, _)) => _ = used.insert(*listed),
                None => problems.push(format!("{place}: {command}: run by nothing")),
            }
        }
    }
    for (listed, run) in COMMANDS {
        if !used.contains(listed) {
            problems.push(format!("no document has {listed}"));
        }
        match run {
            By(file, text) if !read(file).contains(text) => {
                problems.push(format!("{file} does not run {listed}: no {text:?} in it"));
            }
            Never(reason) => println!("{listed}: {reason}"),
            By(..) => {}
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(count > 30, "only {count} commands found");
}

/// The check itself notices what it is there for.
#[test]
fn commands_that_do_not_exist_are_noticed() {
    for wrong in [
        "cargo run --example quick_stat",
        "cargo run --features azure-identty --example azure_entra",
        "cargo run --example quick_start -- --verfy",
        "cargo run --exmple quick_start",
        "cargo run -p mssql-embeded -- --port 1433",
        "cargo run -p mssql-embedded -- --prt 1433",
        "cargo run --release -p sql-stress --example compare_baselin",
        "cargo run -p sql-stress -- fan-out --durtion 5s",
        "cargo test --test its",
        "cargo test --test it conformity",
        "cargo test --worspace",
        "cargo bench -p clients-bench",
        "cargo fly",
        "cargo run -p duroxide-sql-cli -- scrpt",
        "cargo run -p duroxide-sql-cli --example page_trail",
        "cargo install --path clj",
        "duroxide-sql srve",
        "duroxide-sql serve --allow-change",
        "sql-stress fan-in",
        "sql-stress fan-out --pears 2:2",
        ".ci/tsql-chek",
        ".ci/tsql-check --self-tst",
        ".ci/tsql-check migrations/procedures/red.sql",
        "sqlcmd -X -i install.sql",
        "$EDITOR docs/errrors.md",
        "make",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
    let document = "```sh\nA=1 B='x y' \\\n    one two > out && three # four\n```\n`cargo x` `x`";
    assert_eq!(commands(document), ["one two", "three", "cargo x"]);
}
