//! What the connection-string reader accepts, and how it refuses the rest.

use super::*;

fn parse(text: &str) -> ConnectionString {
    ConnectionString::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str) -> String {
    match ConnectionString::parse(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn ado_net_string_of_the_azure_portal_is_read() {
    let c = parse(
        "Server=tcp:orders.database.windows.net,1433;Initial Catalog=shop;Persist Security \
         Info=False;User ID=app;Password={p;w}}d};MultipleActiveResultSets=False;Encrypt=True;\
         TrustServerCertificate=False;Connection Timeout=30;",
    );
    assert_eq!(c.host, "orders.database.windows.net");
    assert_eq!(c.port, Some(1433));
    assert_eq!(c.database.as_deref(), Some("shop"));
    assert_eq!(c.user.as_deref(), Some("app"));
    assert_eq!(c.password.as_deref(), Some("p;w}d"));
    assert_eq!(c.encrypt, Encrypt::Required);
    assert!(!c.trust_server_certificate);
    assert_eq!(c.connect_timeout, Some(Duration::from_secs(30)));
}

#[test]
fn url_is_read_with_encoded_parts() {
    let c = parse(
        "sqlserver://app:p%40ss%3Aw%C3%B6rd@db.example:14330/my%20shop?encrypt=false&\
         trustServerCertificate=true&application%20name=orders",
    );
    assert_eq!((c.host.as_str(), c.port), ("db.example", Some(14330)));
    assert_eq!(c.user.as_deref(), Some("app"));
    assert_eq!(c.password.as_deref(), Some("p@ss:wörd"));
    assert_eq!(c.database.as_deref(), Some("my shop"));
    assert_eq!(c.encrypt, Encrypt::LoginOnly);
    assert!(c.trust_server_certificate);
    assert_eq!(c.application_name.as_deref(), Some("orders"));
}

#[test]
fn url_needs_only_a_host() {
    let c = parse("mssql://localhost");
    assert_eq!(
        (c.host.as_str(), c.port, c.database),
        ("localhost", None, None)
    );
}

#[test]
fn ipv6_hosts_are_read() {
    assert_eq!(parse("sqlserver://sa:x@[::1]:1444/db").host, "::1");
    assert_eq!(parse("sqlserver://sa:x@[::1]:1444/db").port, Some(1444));
    assert_eq!(parse("server=tcp:::1,1433").host, "::1");
}

#[test]
fn quotes_protect_separators() {
    assert_eq!(
        parse("server=h;pwd='a;b''c'").password.as_deref(),
        Some("a;b'c")
    );
    assert_eq!(
        parse("server=h;pwd=\"a=b\"; uid=x").password.as_deref(),
        Some("a=b")
    );
    assert_eq!(parse("server=h;pwd=a=b").password.as_deref(), Some("a=b"));
    assert_eq!(parse("server=h;pwd=").password.as_deref(), Some(""));
}

#[test]
fn local_names_mean_localhost() {
    assert_eq!(parse("server=(local)").host, "localhost");
    assert_eq!(parse("data source=.,1500").host, "localhost");
}

#[test]
fn encryption_is_on_unless_switched_off() {
    assert_eq!(parse("server=h").encrypt, Encrypt::Required);
    assert_eq!(parse("server=h;encrypt=strict").encrypt, Encrypt::Strict);
    assert_eq!(
        parse("server=h;encrypt=optional").encrypt,
        Encrypt::LoginOnly
    );
}

#[test]
fn unknown_keys_are_refused_by_name() {
    assert_eq!(
        refusal("server=h;databse=shop"),
        "connection string option \"databse\" is unknown; check its spelling or remove it"
    );
    assert!(refusal("sqlserver://h/db?encrypted=true").contains("\"encrypted\" is unknown"));
}

#[test]
fn unsupported_options_say_what_to_do() {
    for (text, word) in [
        ("server=h\\sqlexpress", "named instances"),
        ("server=np:h", "TCP"),
        ("server=h;integrated security=sspi", "token source"),
        (
            "server=h;authentication=ActiveDirectoryDefault",
            "token source",
        ),
        ("server=h;applicationintent=readonly", "writes"),
        ("server=h;multipleactiveresultsets=true", "remove"),
        ("server=h;pooling=false", "pool"),
    ] {
        assert!(refusal(text).contains(word), "{text}: {}", refusal(text));
    }
}

#[test]
fn malformed_values_are_refused() {
    assert!(refusal("").contains("no server"));
    assert!(refusal("database=x").contains("no server"));
    assert!(refusal("server=h,notaport").contains("port"));
    assert!(refusal("server=h,0").contains("port"));
    assert!(refusal("server=h;encrypt=maybe").contains("true, strict or false"));
    assert!(refusal("server=h;packet size=100").contains("512"));
    assert!(refusal("postgres://h/db").contains("postgres"));
    assert!(refusal("sqlserver://a%zz@h/db").contains("user"));
    assert!(refusal("server=h;connect timeout=soon").contains("whole number"));
}

#[test]
fn refusals_never_show_a_password() {
    for text in [
        "server=h;user id=u;password='hunter2",
        "server=h;user id=u;password=x;hunter2",
        "sqlserver://u:hunter2%zz@h/db",
        "server=h;password={hunter2}x",
    ] {
        assert!(!refusal(text).contains("hunter2"), "{}", refusal(text));
    }
}
