//! Everything that decides whether a schema can work here, each with what to do about it.

use duroxide_sql::{Encrypt, ServerFacts};
use serde_json::json;

use super::{operator, schema_name};
use crate::args::Cli;
use crate::outcome::Outcome;
use crate::output::{self, Tone, coloured};

/// Clocks that differ by more make the times of histories hard to read.
const CLOCK_DOUBTFUL_MS: i64 = 2000;
/// A turn takes several round trips.
const ROUND_TRIP_DOUBTFUL_MS: u128 = 50;

/// One thing that was looked at.
struct Finding {
    tone: Tone,
    subject: &'static str,
    text: String,
}

fn finding(tone: Tone, subject: &'static str, text: impl Into<String>) -> Finding {
    Finding {
        tone,
        subject,
        text: text.into(),
    }
}

fn look(facts: &ServerFacts, schema: &str) -> Vec<Finding> {
    use Tone::{Bad, Doubtful, Good};
    let connection = format!(
        "{}, database {}, as {}, version {}",
        facts.server, facts.database, facts.user, facts.product_version
    );
    let tls = match (facts.encrypt, facts.trusts_any_certificate) {
        (Encrypt::Required | Encrypt::Strict, false) => {
            finding(Good, "TLS", "encrypted, certificate checked")
        }
        (Encrypt::Required | Encrypt::Strict, true) => finding(
            Doubtful,
            "TLS",
            "encrypted, but any certificate is accepted; install the server's authority and drop \
             trustServerCertificate",
        ),
        (Encrypt::LoginOnly | Encrypt::Plaintext, _) => finding(
            Doubtful,
            "TLS",
            "data travels unencrypted; write encrypt=true into the connection string",
        ),
    };
    let rights = match (facts.may_install, facts.roles.as_slice()) {
        (true, []) => finding(Good, "rights", "may install"),
        (true, roles) => finding(Good, "rights", format!("may install; {}", roles.join(", "))),
        (false, []) => finding(
            Bad,
            "rights",
            format!(
                "neither may it install nor is it in a role of the schema; ask a DBA for \
                 {schema}_runtime or {schema}_observer"
            ),
        ),
        (false, roles) => finding(Good, "rights", roles.join(", ")),
    };
    let level = facts.compatibility_level;
    let compatibility = if level >= 130 {
        finding(Good, "compatibility", level.to_string())
    } else {
        let remedy = "run ALTER DATABASE CURRENT SET COMPATIBILITY_LEVEL = 130 or higher";
        finding(
            Bad,
            "compatibility",
            format!("{level} is below 130; {remedy}"),
        )
    };
    let snapshot = if facts.snapshot_reads {
        finding(Good, "snapshot reads", "on")
    } else {
        finding(
            Good,
            "snapshot reads",
            "off: whoever reads the tables waits for writers; ALTER DATABASE CURRENT SET \
             READ_COMMITTED_SNAPSHOT ON would spare readers that",
        )
    };
    let durability = match facts.delayed_durability.as_deref() {
        Some("FORCED") => finding(
            Bad,
            "durability",
            "delayed durability is forced, so a crash can lose acknowledged work; run ALTER \
             DATABASE CURRENT SET DELAYED_DURABILITY = ALLOWED",
        ),
        Some(other) => finding(Good, "durability", format!("delayed durability {other}")),
        None => finding(Good, "durability", "the server does not say"),
    };
    let difference = facts.clock_difference_ms;
    let clock = if difference.abs() > CLOCK_DOUBTFUL_MS {
        finding(
            Doubtful,
            "clock",
            format!(
                "the server's clock differs by {difference} ms; leases do not mind, but times in \
                 histories are the workers'; synchronise the clocks"
            ),
        )
    } else {
        finding(Good, "clock", format!("differs by {difference} ms"))
    };
    let round_trip_ms = facts.round_trip.as_millis();
    let round_trip = format!("{:.1} ms", facts.round_trip.as_secs_f64() * 1000.0);
    let distance = if round_trip_ms > ROUND_TRIP_DOUBTFUL_MS {
        let remedy = "every turn takes several; run the workers nearer to the database";
        finding(Doubtful, "round trip", format!("{round_trip}; {remedy}"))
    } else {
        finding(Good, "round trip", round_trip)
    };
    vec![
        finding(Good, "connection", connection),
        tls,
        rights,
        compatibility,
        snapshot,
        durability,
        clock,
        distance,
    ]
}

pub async fn run(cli: &Cli) -> anyhow::Result<Outcome> {
    let schema = schema_name(cli)?;
    let operator = operator(cli).await?;
    let mut findings = look(&operator.facts().await?, schema.as_str());
    findings.push(match operator.verify().await {
        Ok(()) => finding(
            Tone::Good,
            "schema",
            format!("{schema} is what this release needs"),
        ),
        Err(error) => finding(Tone::Bad, "schema", error.to_string()),
    });
    let word = |tone| match tone {
        Tone::Good => "ok",
        Tone::Doubtful => "look",
        Tone::Bad => "bad",
    };
    if cli.json {
        let all: Vec<_> = findings
            .iter()
            .map(|f| json!({ "subject": f.subject, "verdict": word(f.tone), "text": f.text }))
            .collect();
        output::json(&all)?;
    } else {
        for f in &findings {
            let verdict = coloured(f.tone, &format!("{:<4}", word(f.tone)));
            output::line(format_args!("{verdict} {:<15} {}", f.subject, f.text))?;
        }
    }
    let is_bad = findings.iter().any(|f| matches!(f.tone, Tone::Bad));
    Ok(if is_bad {
        Outcome::Found
    } else {
        Outcome::Good
    })
}
