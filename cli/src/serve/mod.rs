//! `duroxide-sql serve`: a page for operators, from one process, without any other network.

mod api;
mod assets;
mod door;
mod pulse;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::middleware;
use axum::routing::{get, post};
use duroxide_sql::Operator;

use door::Door;
pub use door::Token;
use pulse::Pulse;

/// What the page may do, and for whom.
pub struct Settings {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Whether the page may cancel instances and raise events.
    pub allow_changes: bool,
    /// What whoever asks must know.
    pub token: Option<Token>,
    /// Names under which the page may be asked for, besides addresses and localhost.
    pub host_names: Vec<String>,
    /// The schema's name, for the page's title.
    pub schema: String,
}

/// What every answer needs.
struct Page {
    operator: Operator,
    pulse: Pulse,
    schema: String,
    allow_changes: bool,
}

/// A page that listens and has not begun to answer.
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    listener: tokio::net::TcpListener,
    router: Router,
}

/// Begins to listen.
///
/// # Errors
///
/// When the place is not to be had, or others could reach it without knowing a token.
pub async fn listen(operator: Operator, settings: Settings) -> anyhow::Result<Listening> {
    let listen = settings.listen;
    anyhow::ensure!(
        listen.ip().is_loopback() || settings.token.is_some(),
        "others could reach {listen}; give --token-file or set DUROXIDE_SQL_PAGE_TOKEN, or listen on 127.0.0.1"
    );
    let listener = tokio::net::TcpListener::bind(listen)
        .await
        .with_context(|| format!("nothing can listen on {listen}"))?;
    let page = Arc::new(Page {
        operator,
        pulse: Pulse::default(),
        schema: settings.schema,
        allow_changes: settings.allow_changes,
    });
    let door = Arc::new(Door {
        token: settings.token,
        host_names: settings.host_names,
        allow_changes: settings.allow_changes,
    });
    let router = assets::routes()
        .route("/api/about", get(api::about))
        .route("/api/overview", get(api::overview))
        .route("/api/instances", get(api::instances))
        .route("/api/instance", get(api::instance))
        .route("/api/event", get(api::event))
        .route("/api/cancel", post(api::cancel))
        .route("/api/raise", post(api::raise))
        .fallback(api::nothing)
        .with_state(page)
        .layer(middleware::from_fn_with_state(door, door::guard));
    Ok(Listening {
        address: listener.local_addr()?,
        listener,
        router,
    })
}

impl Listening {
    /// Answers until the process is asked to stop.
    ///
    /// # Errors
    ///
    /// When the listener breaks.
    pub async fn serve(self) -> anyhow::Result<()> {
        let stop = async {
            // Without a handler for signals the process simply ends, which does as well.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            served = axum::serve(self.listener, self.router) => Ok(served?),
            () = stop => Ok(()),
        }
    }
}
