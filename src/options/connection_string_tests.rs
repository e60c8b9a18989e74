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
    assert_eq!(c.encrypt, Some(Encrypt::Required));
    assert_eq!(c.trust_server_certificate, Some(false));
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
    assert_eq!(c.encrypt, Some(Encrypt::LoginOnly));
    assert_eq!(c.trust_server_certificate, Some(true));
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
fn addresses_are_read() {
    let read = |text: &str| {
        let c = parse(text);
        (c.host, c.port)
    };
    let is = |host: &str, port| (host.to_owned(), port);
    assert_eq!(
        read("sqlserver://sa:x@[::1]:1444/db"),
        is("::1", Some(1444))
    );
    assert_eq!(
        read("sqlserver://[fe80::1%25eth0]/db"),
        is("fe80::1%eth0", None)
    );
    assert_eq!(
        read("sqlserver://db%2Dnorth.example:1500"),
        is("db-north.example", Some(1500))
    );
    assert_eq!(read("server=tcp:::1,1433"), is("::1", Some(1433)));
    assert_eq!(read("server=[::1],1433"), is("::1", Some(1433)));
    assert_eq!(read("server=fe80::1%eth0"), is("fe80::1%eth0", None));
    for text in [
        "server=tcp:h,1500",
        "server=TCP:h,1500",
        "server= Tcp: h , 1500 ",
    ] {
        assert_eq!(read(text), is("h", Some(1500)), "{text}");
    }
    assert_eq!(read("server=db;port=1500"), is("db", Some(1500)));
}

#[test]
fn hosts_that_cannot_be_are_not_looked_up() {
    for text in [
        "server=h 1433",
        "server=h:1433",
        "server=[::1]:1433",
        "server=[::1",
        "server=h/db",
        "server=a@h",
        "sqlserver://a b/db",
        "sqlserver://[::1/db",
        "sqlserver://[::1]1433/db",
    ] {
        let refusal = refusal(text);
        assert!(refusal.contains("a host name or an address"), "{refusal}");
    }
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
    assert_eq!(parse("server=h").encrypt, None);
    assert_eq!(Encrypt::default(), Encrypt::Required);
    assert_eq!(
        parse("server=h;encrypt=strict").encrypt,
        Some(Encrypt::Strict)
    );
    assert_eq!(
        parse("server=h;encrypt=optional").encrypt,
        Some(Encrypt::LoginOnly)
    );
}

#[test]
fn unknown_options_are_refused_without_their_text() {
    assert_eq!(
        refusal("server=h;databse=shop"),
        "connection string option 2 is unknown, did you mean database; check its spelling, and \
         whether a password before it needs quotes or escapes"
    );
    assert_eq!(
        refusal("sqlserver://u:p@h/db?hunter=true"),
        "connection string option 1 is unknown; check its spelling, and whether a password \
         before it needs quotes or escapes"
    );
}

#[test]
fn options_given_twice_are_refused() {
    assert!(refusal("server=h;data source=i").contains("\"server\" is given twice"));
    assert!(refusal("sqlserver://u:p@h?pwd=q").contains("\"password\" is given twice"));
    assert!(refusal("sqlserver://h:1?port=2").contains("\"port\" is given twice"));
    for text in [
        "server=tcp:h,1;port=2",
        "port=2;server=tcp:h,1",
        "server=h,1;port=1",
    ] {
        assert!(refusal(text).contains("\"port\" is given twice"), "{text}");
    }
    assert_eq!(parse("port=2;server=tcp:h").port, Some(2));
}

#[test]
fn unsupported_options_say_what_to_do() {
    for (text, word) in [
        ("server=h\\sqlexpress", "named instances"),
        ("sqlserver://h\\sqlexpress/db", "named instances"),
        ("server=np:h", "TCP"),
        ("server=NP:h", "TCP"),
        ("server=h;integrated security=sspi", "token source"),
        ("server=h;trusted_connection=yes", "token source"),
        (
            "server=h;authentication=ActiveDirectoryInteractive",
            "token source",
        ),
        ("server=h;applicationintent=readonly", "writes"),
        ("server=h;multipleactiveresultsets=true", "remove"),
        ("server=h;pooling=false", "pool"),
        ("server=h;failover partner=i", "listener"),
        (
            "server=h;servercertificate=a.cer",
            "trustServerCertificateCA",
        ),
        ("server=h;attachdbfilename=a.mdf", "database=…"),
        (
            "Driver={ODBC Driver 18 for SQL Server};Server=h;UID=u;PWD=p",
            "ODBC",
        ),
        ("Provider=MSOLEDBSQL;Data Source=h", "OLE DB"),
    ] {
        assert!(refusal(text).contains(word), "{text}: {}", refusal(text));
    }
}

#[test]
fn options_of_other_drivers_are_accepted_where_they_ask_for_what_is_done() {
    let c = parse(
        "server=h;MultiSubnetFailover=True;ApplicationIntent=ReadWrite;ConnectRetryCount=3;\
         Connect Retry Interval=10;Authentication=Sql Password;Workstation ID=till-7;\
         Integrated Security=False;Persist Security Info=False;Enlist=true;Pooling=true;\
         Column Encryption Setting=Disabled;Network Library=dbmssocn;Load Balance Timeout=60",
    );
    assert_eq!(c.workstation_id.as_deref(), Some("till-7"));
    assert_eq!(c.max_lifetime, Some(Duration::from_secs(60)));
    for text in [
        "server=h;connectretrycount=256",
        "server=h;connect retry interval=0",
        "server=h;multisubnetfailover=perhaps",
        "server=h;applicationintent=both",
    ] {
        assert!(refusal(text).contains("must be"), "{}", refusal(text));
    }
}

#[test]
fn forms_of_other_drivers_get_a_hint() {
    for text in [
        "jdbc:sqlserver://h:1433;databaseName=d;user=u;password=p",
        "JDBC:sqlserver://h",
        "sqlserver://h:1433;database=d;user=u;password=p@q",
    ] {
        assert!(refusal(text).contains("JDBC's form"), "{}", refusal(text));
    }
}

#[test]
fn malformed_values_are_refused() {
    assert!(refusal("server=h,notaport").contains("port"));
    assert!(refusal("server=h,0").contains("port"));
    assert!(refusal("server=h;encrypt=maybe").contains("true, strict or false"));
    assert!(refusal("server=h;packet size=100").contains("512"));
    assert!(refusal("postgres://h/db").contains("postgres"));
    assert!(refusal("hunter://h/db").contains("unknown scheme"));
    assert!(refusal("sqlserver://a%zz@h/db").contains("user"));
    assert!(refusal("sqlserver://a%+5@h/db").contains("user"));
    assert!(refusal("server=h;connect timeout=soon").contains("whole number"));
}
