//! Claims whose lease was over before anybody heard of them, and whose item somebody else has by then: they do not count
//! as tried. Otherwise a server that is slow for a while would have the runtime give workflows up as poisoned.

use std::time::Duration;

use duroxide::providers::{Provider, ProviderError, TagFilter};
use duroxide_sql::MssqlProvider;
use mssql_embedded::Trigger;

use crate::support::database::{TestSchema, own_server};
use crate::support::items::{activity, start};
use crate::support::proxied::setup_at;
use crate::support::proxy::Fault;
use crate::support::wait;

/// Over when a fetch is told that no answer came.
const SHORT: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy)]
enum Of {
    Turn,
    Activity,
}

impl Of {
    const fn fetch(self) -> &'static str {
        match self {
            Self::Turn => "fetch_orchestration_item",
            Self::Activity => "fetch_work_item",
        }
    }

    const fn uncount(self) -> &'static str {
        match self {
            Self::Turn => "uncount_orchestration_item",
            Self::Activity => "uncount_work_item",
        }
    }

    const fn abandoned_by(self) -> &'static str {
        match self {
            Self::Turn => "abandon_orchestration_item",
            Self::Activity => "abandon_work_item",
        }
    }

    const fn table(self) -> &'static str {
        match self {
            Self::Turn => "orchestrator_queue",
            Self::Activity => "worker_queue",
        }
    }

    async fn enqueue(self, provider: &MssqlProvider) {
        let enqueued = match self {
            Self::Turn => {
                provider
                    .enqueue_for_orchestrator(start("order"), None)
                    .await
            }
            Self::Activity => provider.enqueue_for_worker(activity("order", 2, "")).await,
        };
        enqueued.expect("enqueue");
    }

    /// The token and how often it was tried.
    async fn take(
        self,
        provider: &MssqlProvider,
        lease: Duration,
    ) -> Result<Option<(String, u32)>, ProviderError> {
        let filter = TagFilter::default();
        match self {
            Self::Turn => {
                let fetched = provider.fetch_orchestration_item(lease, Duration::ZERO, None);
                let fetched = fetched.await?;
                Ok(fetched.map(|(_, token, attempts)| (token, attempts)))
            }
            Self::Activity => {
                let fetched = provider.fetch_work_item(lease, Duration::ZERO, None, &filter);
                let fetched = fetched.await?;
                Ok(fetched.map(|(_, token, attempts)| (token, attempts)))
            }
        }
    }

    async fn abandon(self, provider: &MssqlProvider, token: &str) {
        let abandoned = match self {
            Self::Turn => {
                provider
                    .abandon_orchestration_item(token, None, false)
                    .await
            }
            Self::Activity => provider.abandon_work_item(token, None, false).await,
        };
        abandoned.expect("abandon");
    }
}

#[tokio::test]
async fn turn_that_nobody_had_does_not_count_as_tried() {
    claim_in_vain(Of::Turn).await;
}

#[tokio::test]
async fn activity_that_nobody_had_does_not_count_as_tried() {
    claim_in_vain(Of::Activity).await;
}

async fn claim_in_vain(of: Of) {
    let server = own_server();
    let controls = server.controls();
    let setup = setup_at(TestSchema::at(server.connection_string())).await;
    let provider = &setup.provider;
    of.enqueue(provider).await;
    let answer = || controls.pause(Trigger::response().of(of.fetch()));
    let first = answer();
    let fetched = of.take(provider, SHORT).await;
    assert!(fetched.unwrap_err().is_retryable(), "no answer in time");
    // The lease is over, and another fetch has the item. What becomes of the first is known before it hears of that.
    let second = answer();
    let (fetched, ()) = tokio::join!(of.take(provider, LONG), async {
        second.paused().await;
        first.release();
        wait::until("the first attempt is taken off", || async {
            setup.proxy.calls(of.uncount()) == 1
        })
        .await;
        second.release();
    });
    let (token, attempts) = fetched.unwrap().expect("the item is there");
    assert_eq!(attempts, 1, "of two claims one was in vain");
    let stored = format!(
        "SELECT MAX(attempt_count) AS n FROM [$(schema)].{};",
        of.table()
    );
    wait::until("the database agrees", || async {
        setup.schema.number(&stored).await == 1
    })
    .await;
    of.abandon(provider, &token).await;
    let fetched = of.take(provider, LONG).await.unwrap();
    let (_, attempts) = fetched.expect("the item is there again");
    assert_eq!(attempts, 2, "somebody had it before");
}

/// What is given back twice looks as if somebody had taken it over. An attempt that somebody made must not be taken off then.
#[tokio::test]
async fn claim_that_was_given_back_without_an_answer_takes_no_other_attempt_off() {
    for of in [Of::Turn, Of::Activity] {
        let server = own_server();
        let setup = setup_at(TestSchema::at(server.connection_string())).await;
        let provider = &setup.provider;
        of.enqueue(provider).await;
        let (token, _) = of.take(provider, LONG).await.unwrap().expect("the item");
        of.abandon(provider, &token).await;
        let answer = Trigger::response().of(of.fetch());
        let answer = server.controls().pause(answer);
        let fetched = of.take(provider, SHORT).await;
        assert!(fetched.unwrap_err().is_retryable(), "no answer in time");
        setup.proxy.spoil(of.abandoned_by(), Fault::CutAfter);
        answer.release();
        wait::until("it is given back", || async {
            setup.proxy.calls(of.abandoned_by()) == 2
        })
        .await;
        // As long as a wrong call would need.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(setup.proxy.calls(of.uncount()), 0, "{of:?}");
        let stored = format!(
            "SELECT MAX(attempt_count) AS n FROM [$(schema)].{};",
            of.table()
        );
        assert_eq!(setup.schema.number(&stored).await, 1, "{of:?}");
    }
}
