//! A login of a test's own, member of the roles that the test gives it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::database::TestSchema;
use super::session::Session;

const PASSWORD: &str = "Str0ng.enough";

/// What `SERVERPROPERTY('EngineEdition')` says on Azure SQL Database, which has users with passwords
/// where others have logins.
const AZURE_SQL_DATABASE: i64 = 5;

/// The login still has a connection.
const LOGGED_IN: u32 = 15_434;

/// A login and its user.
pub struct Login {
    name: String,
    url: String,
    has_login: bool,
}

impl Login {
    /// Creates a login without any role.
    pub async fn create(schema: &TestSchema) -> Self {
        let name = format!("login_{}", uuid::Uuid::new_v4().simple());
        let edition = "SELECT CAST(SERVERPROPERTY('EngineEdition') AS INT);";
        let has_login = schema.number(edition).await != AZURE_SQL_DATABASE;
        let secret = format!("WITH PASSWORD = N'{PASSWORD}'");
        if has_login {
            schema
                .sql(&format!("CREATE LOGIN [{name}] {secret};"))
                .await;
            let create = format!("CREATE USER [{name}] FOR LOGIN [{name}];");
            schema.sql(&create).await;
        } else {
            schema.sql(&format!("CREATE USER [{name}] {secret};")).await;
        }
        let url = as_login(schema.url(), &name);
        Self {
            name,
            url,
            has_login,
        }
    }

    /// The connection string of this login.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The name of its user.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes it a member of a role of the schema: runtime, observer or inspector.
    pub async fn join(&self, schema: &TestSchema, role: &str) {
        let (schema_name, name) = (schema.name().as_str(), &self.name);
        let alter = format!("ALTER ROLE [{schema_name}_{role}] ADD MEMBER [{name}];");
        schema.sql(&alter).await;
    }

    /// Removes it from the server.
    pub async fn drop(self, schema: &TestSchema) {
        let name = self.name;
        schema.sql(&format!("DROP USER [{name}];")).await;
        if !self.has_login {
            return;
        }
        // The server hears a moment later than we that a connection was closed.
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut session = Session::open(schema).await;
        loop {
            match session.run(&format!("DROP LOGIN [{name}];")).await {
                Ok(_) => return,
                Err(LOGGED_IN) if Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(number) => panic!("error {number} from DROP LOGIN"),
            }
        }
    }
}

/// A login that is a member of one role of a schema, until it is dropped.
pub struct Member {
    login: Option<Login>,
    schema: Arc<TestSchema>,
}

impl Member {
    pub async fn join(schema: Arc<TestSchema>, role: &str) -> Self {
        let login = Login::create(&schema).await;
        let member = Self {
            login: Some(login),
            schema,
        };
        member.login().join(&member.schema, role).await;
        member
    }

    fn login(&self) -> &Login {
        self.login.as_ref().expect("until it is dropped")
    }

    /// The connection string of this login.
    pub fn url(&self) -> &str {
        self.login().url()
    }
}

impl Drop for Member {
    /// On a thread with a runtime of its own, because a test that panics has none to wait on.
    fn drop(&mut self) {
        let (login, schema) = (self.login.take(), self.schema.clone());
        let cleaner = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let login = login.expect("dropped once");
            runtime.expect("a runtime").block_on(login.drop(&schema));
        });
        let result = cleaner.join();
        if !std::thread::panicking() {
            result.expect("the login is removed");
        }
    }
}

/// The connection string with another login in it.
fn as_login(url: &str, user: &str) -> String {
    let kept = url.split(';').filter(|pair| {
        let key = pair.split('=').next().unwrap_or_default();
        let key = key.trim().to_lowercase();
        !["user id", "uid", "password", "pwd"].contains(&key.as_str())
    });
    let kept: Vec<_> = kept.collect();
    format!("{};user id={user};password={PASSWORD}", kept.join(";"))
}
