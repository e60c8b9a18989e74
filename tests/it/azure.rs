//! Identities of Azure, from a metadata service, the Azure CLI and Entra ID as tests play them, over the
//! wire into a server that takes their tokens and nobody's password.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use azure_core::http::headers::Headers;
use azure_core::http::{AsyncRawResponse, ClientOptions, HttpClient, Request, Transport};
use azure_identity::{
    ClientAssertionCredentialOptions, WorkloadIdentityCredential, WorkloadIdentityCredentialOptions,
};
use duroxide_sql::{AzureIdentity, MssqlProvider};
use mssql_embedded::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::support::items::create;

const TOKEN: &str = "a-token-of-azure";
const HOUR: Duration = Duration::from_secs(3600);

/// A server that takes the token, and the connection string that leads to it without a login.
fn server() -> (Server, String) {
    let server = Server::builder().start().expect("the server starts");
    server.controls().accept_token(TOKEN, "sa", HOUR);
    let login = format!("user id=sa;password={};", server.password());
    let url = server.connection_string();
    assert!(url.contains(&login), "the login stands as it did");
    let url = url.replace(&login, "");
    (server, url)
}

/// The example, with nothing of Azure in its environment. Cargo builds it with all tests, and not with this
/// one alone.
fn example(url: &str, identity: &str) -> Command {
    let tests = std::env::current_exe().expect("this program has a path");
    let folder = tests.ancestors().nth(2).expect("the folder of all builds");
    let program = folder.join("examples/azure_entra");
    assert!(
        program.exists(),
        "build the example first, with the same features: cargo build --features azure-identity \
         --example azure_entra"
    );
    let mut command = Command::new(program);
    command.env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
        .env("DATABASE_URL", url)
        .env("AZURE_IDENTITY", identity);
    command.kill_on_drop(true);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shows_metrics(output: &Output) {
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("schema duroxide: SystemMetrics"),
        "{shown}{}",
        text(&output.stderr)
    );
}

/// A metadata service as App Service has one.
struct Metadata {
    endpoint: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Metadata {
    /// Answers with these, and goes on with the last.
    async fn start(answers: &[(u16, String)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (seen, mut answers) = (requests.clone(), VecDeque::from(answers.to_vec()));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => request.push(byte),
                        Err(_) => break,
                    }
                }
                let (status, body) = answers[0].clone();
                if answers.len() > 1 {
                    answers.pop_front();
                }
                seen.lock().unwrap().push(text(&request));
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\n\
                     content-length: {}\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self {
            endpoint: format!("http://{address}/msi/token"),
            requests,
        }
    }

    async fn run(&self, url: &str, identity: &str) -> Output {
        let mut command = example(url, identity);
        command.env("IDENTITY_ENDPOINT", &self.endpoint);
        command.env("IDENTITY_HEADER", "hunter2");
        command.output().await.expect("the example runs")
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// The answer of a metadata service
/// (<https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference>).
fn issued() -> (u16, String) {
    let end = SystemTime::now() + HOUR;
    let end = end.duration_since(UNIX_EPOCH).unwrap().as_secs();
    let body = format!(
        r#"{{"access_token":"{TOKEN}","expires_on":"{end}","resource":"https://database.windows.net","token_type":"Bearer","client_id":"till-7"}}"#
    );
    (200, body)
}

/// One token of the managed identity opens all connections, also when the service was busy at first.
#[tokio::test]
async fn managed_identity_logs_in() {
    let (_server, url) = server();
    let busy = (503, "{}".to_owned());
    for (identity, answers) in [
        ("managed", vec![issued()]),
        ("managed:till-7", vec![busy, issued()]),
    ] {
        let metadata = Metadata::start(&answers).await;
        shows_metrics(&metadata.run(&url, identity).await);
        let requests = metadata.requests();
        assert_eq!(requests.len(), answers.len(), "{requests:?}");
        let wanted =
            "GET /msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fdatabase.windows.net";
        assert!(requests[0].starts_with(wanted), "{requests:?}");
        let names_client = requests[0].contains("&client_id=till-7 ");
        assert_eq!(names_client, identity != "managed", "{requests:?}");
        let header = "x-identity-header: hunter2";
        assert!(requests[0].to_lowercase().contains(header), "{requests:?}");
    }
}

/// An identity that is not there is reported at once, in one line, without the service's secret.
#[tokio::test]
async fn missing_managed_identity_is_named() {
    let (server, url) = server();
    let metadata = Metadata::start(&[(400, r#"{"statusCode":400}"#.to_owned())]).await;
    let output = metadata.run(&url, "managed").await;
    let said = text(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.starts_with(
            "azure_entra: no access token: ManagedIdentityCredential authentication failed. "
        ),
        "{said}"
    );
    assert!(
        said.contains("has not been assigned to this resource"),
        "{said}"
    );
    let end = format!("; {} was not asked\n", server.address());
    assert!(said.ends_with(&end), "{said}");
    assert!(
        said.lines().count() == 1 && !said.contains("hunter2"),
        "{said}"
    );
    assert_eq!(metadata.requests().len(), 1);
}

/// A folder that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("duroxide-sql-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a temporary folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
fn install_az(folder: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let tool = folder.join("az");
    std::fs::write(&tool, format!("#!/bin/sh\n{script}\n")).expect("the script is written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&tool, mode).expect("the script may run");
}

/// A developer logs in with what `az login` left, and hears when there is nothing.
#[cfg(unix)]
#[tokio::test]
async fn developer_logs_in_through_the_azure_cli() {
    let (_server, url) = server();
    let folder = Folder::new();
    let path = format!("{}:/usr/bin:/bin", folder.0.display());
    let asked = folder.0.join("asked");
    let end = SystemTime::now() + HOUR;
    let end = end.duration_since(UNIX_EPOCH).unwrap().as_secs();
    let answer = format!(r#"{{"accessToken":"{TOKEN}","expires_on":{end},"tokenType":"Bearer"}}"#);
    let script = format!("echo \"$@\" > {}\necho '{answer}'", asked.display());
    install_az(&folder.0, &script);
    let output = example(&url, "developer").env("PATH", &path).output();
    shows_metrics(&output.await.expect("the example runs"));
    let asked = std::fs::read_to_string(asked).expect("the tool was asked");
    assert!(
        asked.contains("get-access-token")
            && asked.contains("https://database.windows.net/.default"),
        "{asked}"
    );

    install_az(&folder.0, "echo 'Please run az login' >&2\nexit 1");
    let output = example(&url, "developer").env("PATH", &path).output();
    let said = text(&output.await.expect("the example runs").stderr);
    assert!(said.contains("Please run az login"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// Entra ID, which gives the token for the pod's own.
#[derive(Debug, Default)]
struct Entra {
    requests: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl HttpClient for Entra {
    async fn execute_request(&self, request: &Request) -> azure_core::Result<AsyncRawResponse> {
        let body: azure_core::Bytes = request.body().into();
        let request = format!("{} {}", request.url(), text(&body));
        self.requests.lock().unwrap().push(request);
        let answer =
            format!(r#"{{"token_type":"Bearer","expires_in":3600,"access_token":"{TOKEN}"}}"#);
        Ok(AsyncRawResponse::from_bytes(
            200.into(),
            Headers::default(),
            azure_core::Bytes::from(answer),
        ))
    }
}

/// A pod's token becomes the database's, and one opens all connections.
#[tokio::test]
async fn workload_identity_logs_in() {
    let (_server, url) = server();
    let folder = Folder::new();
    let file = folder.0.join("token");
    std::fs::write(&file, "the-pods-own").expect("the file is written");
    let entra = Arc::new(Entra::default());
    let options = WorkloadIdentityCredentialOptions {
        client_id: Some("till-7".to_owned()),
        tenant_id: Some("shop".to_owned()),
        token_file_path: Some(file),
        credential_options: ClientAssertionCredentialOptions {
            client_options: ClientOptions {
                transport: Some(Transport::new(entra.clone())),
                ..Default::default()
            },
        },
    };
    let credential = WorkloadIdentityCredential::new(Some(options)).expect("the pod has a token");
    let provider = MssqlProvider::builder(url)
        .token_source(Arc::new(AzureIdentity::from_credential(credential)))
        .pool_min_idle(4)
        .build()
        .await
        .expect("the start succeeds");
    create(&provider, "order").await;
    let requests = entra.requests.lock().unwrap().clone();
    assert_eq!(requests.len(), 1, "{requests:?}");
    for part in [
        "https://login.microsoftonline.com/shop/oauth2/v2.0/token ",
        "client_assertion=the-pods-own",
        "client_id=till-7",
        "scope=https%3A%2F%2Fdatabase.windows.net%2F.default",
    ] {
        assert!(requests[0].contains(part), "{part}: {requests:?}");
    }
}

/// Without the variables of a pod the start ends with a line that says which is missing.
#[tokio::test]
async fn missing_workload_identity_is_named() {
    let (_server, url) = server();
    let output = example(&url, "workload").output().await.unwrap();
    let said = text(&output.stderr);
    assert_eq!(
        said,
        "azure_entra: no access token: no tenant ID specified. Check pod configuration or set \
         tenant_id in the options\n"
    );
}
