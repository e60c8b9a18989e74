//! The page's server: who is answered, what is told, and what may be changed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use duroxide::runtime::Runtime;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::{Client, OrchestrationContext};
use duroxide_sql::MssqlProvider;
use mssql_embedded::Server;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const PATIENCE: Duration = Duration::from_secs(60);
const TOKEN: &str = "a token that nobody guesses";
/// Looks like markup, like an address and like T-SQL.
const NASTY: &str = "<img src=x onerror=alert(1)>/?#&'; DROP TABLE x; --";

fn tool(server: &Server, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duroxide-sql"));
    command
        .args(arguments)
        .env("DATABASE_URL", server.connection_string())
        .env_remove("DUROXIDE_SQL_SCHEMA")
        .env_remove("DUROXIDE_SQL_PAGE_TOKEN");
    command
}

/// A running page; it ends with the value.
struct Page {
    child: Child,
    address: String,
}

impl Page {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .arg("--json")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the tool starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let said: Value = serde_json::from_str(&line).expect("JSON");
        let url = said["url"].as_str().expect("a URL");
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Self {
            child,
            address: address.to_owned(),
        }
    }

    /// Sends one request with these headers besides Host.
    async fn request(&self, line: &str, headers: &str, body: &str) -> (u16, String, String) {
        let host = &self.address;
        self.raw(
            &format!("{line} HTTP/1.1\r\nHost: {host}\r\n{headers}"),
            body,
        )
        .await
    }

    async fn raw(&self, head: &str, body: &str) -> (u16, String, String) {
        let mut stream = tokio::net::TcpStream::connect(&self.address)
            .await
            .expect("the page listens");
        let length = body.len();
        let text = format!("{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(text.as_bytes()).await.expect("sent");
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer));
        read.await.expect("an answer in time").expect("an answer");
        let answer = String::from_utf8(answer).expect("UTF-8");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).expect("a status");
        let status = status.parse().expect("a number");
        (status, head.to_ascii_lowercase(), body.to_owned())
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        let (status, _, body) = self.request(&format!("GET {path}"), "", "").await;
        (status, serde_json::from_str(&body).expect("JSON"))
    }

    async fn post(&self, path: &str, headers: &str, body: &Value) -> (u16, Value) {
        let headers = format!("Content-Type: application/json\r\n{headers}");
        let (line, body) = (format!("POST {path}"), body.to_string());
        let (status, _, body) = self.request(&line, &headers, &body).await;
        (status, serde_json::from_str(&body).expect("JSON"))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.child.kill().expect("the page is stopped");
        self.child.wait().expect("the page ends");
    }
}

async fn work(server: &Server) -> (Arc<Runtime>, Client) {
    let provider = MssqlProvider::new(server.connection_string()).await;
    let store = Arc::new(provider.expect("the provider starts"));
    let orchestrations = OrchestrationRegistry::builder()
        .register("Waits", |ctx: OrchestrationContext, _: String| async move {
            ctx.set_kv_value("note", NASTY);
            Ok(ctx.schedule_wait("Approval").await)
        })
        .build();
    let activities = ActivityRegistry::builder().build();
    let runtime = Runtime::start_with_store(store.clone(), activities, orchestrations).await;
    (runtime, Client::new(store))
}

/// Waits until an instance is in a state, and returns what the page tells about it.
async fn until_state(page: &Page, id: &str, state: &str) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (_, story) = page.get(&format!("/api/instance?id={id}")).await;
        if story["instance"]["state"] == state {
            return story;
        }
        assert!(Instant::now() < deadline, "{id} is not {state}: {story}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Everything that is not ASCII letters, as addresses write it.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[tokio::test]
async fn the_page_shows_and_only_shows_unless_allowed() {
    let server = Server::builder().start().expect("the server starts");
    let (runtime, client) = work(&server).await;
    for id in [NASTY, "plain-1", "plain-2"] {
        client
            .start_orchestration(id, "Waits", "")
            .await
            .expect("started");
    }
    let page = Page::start(tool(&server, &["serve", "--listen", "127.0.0.1:0"]));

    let (status, head, body) = page.request("GET /", "", "").await;
    assert_eq!(status, 200);
    assert!(
        head.contains("content-security-policy: default-src 'none'; script-src 'self'"),
        "{head}"
    );
    assert!(head.contains("x-content-type-options: nosniff"), "{head}");
    assert!(body.contains("<main id=\"main\""), "{body}");
    let elsewhere = page
        .raw("GET /api/about HTTP/1.1\r\nHost: evil.example\r\n", "")
        .await;
    assert_eq!(elsewhere.0, 421);

    let story = until_state(&page, &encoded(NASTY), "Waiting").await;
    assert_eq!(story["instance"]["instance_id"], NASTY);
    assert_eq!(story["key_values"][0]["kv_value"], NASTY);
    assert_eq!(story["bars"][1]["kind"], "wait");
    assert_eq!(story["bars"][1]["outcome"], "open");
    assert_eq!(story["turns"][0]["number"], 1);
    let id = encoded(NASTY);
    let (_, event) = page
        .get(&format!("/api/event?id={id}&execution=1&event=1"))
        .await;
    assert!(
        event["payload"]
            .as_str()
            .expect("a payload")
            .contains("OrchestrationStarted")
    );

    until_state(&page, "plain-2", "Waiting").await;
    let (_, found) = page.get("/api/instances?search=plain").await;
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(2));
    let (_, found) = page
        .get(&format!("/api/instances?search={id}&state=Waiting"))
        .await;
    assert_eq!(found["rows"][0]["instance_id"], NASTY);
    let (_, found) = page.get("/api/instances?page=2").await;
    assert_eq!(
        (found["rows"].as_array().map(Vec::len), &found["has_next"]),
        (Some(0), &json!(false))
    );
    let (status, _) = page
        .get(&format!("/api/instances?search={}", "x".repeat(401)))
        .await;
    assert_eq!(status, 400);
    let (_, overview) = page.get("/api/overview").await;
    assert_eq!(overview["samples"][0]["started"], 3);
    assert_eq!(page.get("/api/instance?id=nobody").await.0, 404);
    assert_eq!(page.get("/api/nothing").await.0, 404);

    let cancel = json!({ "instance_id": "plain-1", "reason": "enough" });
    let own = "X-Duroxide-Sql: page\r\n";
    let (status, answer) = page.post("/api/cancel", own, &cancel).await;
    assert_eq!(status, 403);
    assert!(
        answer["error"]
            .as_str()
            .expect("a reason")
            .contains("--allow-changes")
    );

    let page = Page::start(tool(
        &server,
        &["serve", "--listen", "127.0.0.1:0", "--allow-changes"],
    ));
    let foreign = format!("{own}Origin: http://evil.example\r\n");
    for headers in ["", foreign.as_str()] {
        assert_eq!(
            page.post("/api/cancel", headers, &cancel).await.0,
            403,
            "{headers}"
        );
    }
    until_state(&page, "plain-1", "Waiting").await;
    assert_eq!(page.post("/api/cancel", own, &cancel).await.0, 200);
    let story = until_state(&page, "plain-1", "Failed").await;
    assert!(
        story["payloads"]["output"]
            .as_str()
            .expect("an error")
            .contains("enough")
    );
    assert_eq!(page.post("/api/cancel", own, &cancel).await.0, 409);
    let raise = json!({ "instance_id": "plain-2", "name": "Approval", "data": "yes" });
    assert_eq!(page.post("/api/raise", own, &raise).await.0, 200);
    until_state(&page, "plain-2", "Completed").await;
    runtime.shutdown(None).await;
}

#[tokio::test]
async fn others_need_the_token() {
    let server = Server::builder().start().expect("the server starts");
    let install = tool(&server, &["install"]).output().expect("the tool runs");
    assert!(install.status.success());

    let refused = tool(&server, &["serve", "--listen", "0.0.0.0:0"]).output();
    let refused = refused.expect("the tool runs");
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(
        text.contains("give --token-file or set DUROXIDE_SQL_PAGE_TOKEN"),
        "{text}"
    );
    let mut short = tool(&server, &["serve", "--listen", "127.0.0.1:0"]);
    let short = short
        .env("DUROXIDE_SQL_PAGE_TOKEN", "secret")
        .output()
        .expect("the tool runs");
    assert_eq!(short.status.code(), Some(1));
    assert!(!String::from_utf8_lossy(&short.stderr).contains("secret"));

    let mut command = tool(&server, &["serve", "--listen", "127.0.0.1:0"]);
    command.env("DUROXIDE_SQL_PAGE_TOKEN", TOKEN);
    let page = Page::start(command);
    assert_eq!(page.request("GET /", "", "").await.0, 200);
    for headers in ["", "Authorization: Bearer a token that nobody guesse\r\n"] {
        let (status, _, body) = page.request("GET /api/overview", headers, "").await;
        assert_eq!(status, 401, "{headers}");
        assert!(!body.contains(TOKEN));
    }
    let known = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(page.request("GET /api/overview", &known, "").await.0, 200);
}

/// A login that may look but not into payloads gets everything else, and is told why.
#[tokio::test]
async fn an_observer_sees_no_payloads() {
    let server = Server::builder().start().expect("the server starts");
    let (runtime, client) = work(&server).await;
    client
        .start_orchestration("one", "Waits", "")
        .await
        .expect("started");
    let text = "CREATE LOGIN observer WITH PASSWORD = 'Obs3rver-only'; CREATE USER observer FOR LOGIN observer; \
                ALTER ROLE duroxide_observer ADD MEMBER observer;";
    server.controls().execute("master", text).expect("a login");
    let mut command = tool(&server, &["serve", "--listen", "127.0.0.1:0"]);
    let url = format!(
        "server=tcp:127.0.0.1,{};database=master;user id=observer;password=Obs3rver-only;trustServerCertificate=true",
        server.address().port()
    );
    command.env("DATABASE_URL", url);
    let page = Page::start(command);
    let story = until_state(&page, "one", "Waiting").await;
    assert_eq!(story["bars"][1]["outcome"], "open");
    assert_eq!(story["payloads"], Value::Null);
    assert_eq!(story["key_values"], Value::Null);
    let why = story["payloads_hidden"].as_str().expect("a reason");
    assert!(
        why.contains("v_instance_payloads") && !why.contains("Obs3rver"),
        "{why}"
    );
    runtime.shutdown(None).await;
}
