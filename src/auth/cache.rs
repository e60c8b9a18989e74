//! Keeps a token for all connections: one request at a time serves all who wait, and the next
//! token is asked for while the old one still serves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::time::Instant;

use super::{AccessToken, TokenError, TokenSource};
use crate::observe::events;

/// The next token is asked for when the present one is this close to its end.
const REFRESH_BEFORE: Duration = Duration::from_secs(5 * 60);
/// A token this close to its end is not used any more: the login itself and the clock
/// difference to Azure both take time.
const UNUSABLE_BEFORE: Duration = Duration::from_secs(30);
/// Pause before a source that failed, or that gives short-lived tokens, is asked again; so with one whose last token was
/// asked for after a refusal, and was refused as well.
const PAUSE: Duration = Duration::from_secs(10);
/// A source that does not answer is given up after this time.
const LIMIT: Duration = Duration::from_secs(60);

type Answer = Option<Result<AccessToken, TokenError>>;

/// A token source and the last token it gave.
pub(crate) struct TokenCache {
    source: Arc<dyn TokenSource>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<AccessToken>,
    /// The request under way, for all who need its answer.
    pending: Option<watch::Receiver<Answer>>,
    /// Somebody will ask for the next token in time.
    is_scheduled: bool,
    /// When a token was last forgotten over a refusal.
    forgotten_at: Option<Instant>,
}

impl State {
    fn usable(&self) -> Option<&AccessToken> {
        let token = self.token.as_ref()?;
        (SystemTime::now() + UNUSABLE_BEFORE < token.expires_at).then_some(token)
    }
}

impl TokenCache {
    pub(super) fn new(source: Arc<dyn TokenSource>) -> Arc<Self> {
        Arc::new(Self {
            source,
            state: Mutex::default(),
        })
    }

    /// The token to log in with. Waits for the source only when no valid token is left.
    pub(super) async fn get(self: &Arc<Self>) -> Result<String, TokenError> {
        let mut answer = {
            let mut state = self.state();
            if let Some(token) = state.usable() {
                let secret = token.secret.clone();
                self.schedule(&mut state);
                return Ok(secret);
            }
            self.ask(&mut state)
        };
        let result = match answer.wait_for(Option::is_some).await {
            Ok(answer) => answer.clone(),
            Err(_) => None,
        };
        result
            .unwrap_or_else(|| {
                // The request ended without an answer: it panicked, or its runtime has gone.
                Err(TokenError::passing("the token source was interrupted"))
            })
            .map(|token| token.secret)
    }

    /// Forgets a token that the server refused; the next login waits for another. One that has
    /// come in the meantime stays.
    ///
    /// False when another login with what there is would be refused as well: the token has itself just taken the place of one that
    /// was refused, so that it is the identity that the server does not let in, and no token helps.
    pub(super) fn forget(&self, refused: &str) -> bool {
        let mut state = self.state();
        let present = state.token.as_ref();
        if present.is_none_or(|token| token.secret != refused) {
            return true;
        }
        if state.forgotten_at.is_some_and(|at| at.elapsed() < PAUSE) {
            return false;
        }
        state.token = None;
        state.forgotten_at = Some(Instant::now());
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins the request under way, or begins one. It goes on when its caller goes away. One that
    /// ended without an answer is under way no more.
    fn ask(self: &Arc<Self>, state: &mut State) -> watch::Receiver<Answer> {
        if let Some(pending) = &state.pending
            && pending.has_changed().is_ok()
        {
            return pending.clone();
        }
        let (sender, receiver) = watch::channel(None);
        state.pending = Some(receiver.clone());
        let this = self.clone();
        tokio::spawn(async move {
            let begun = Instant::now();
            let result = match tokio::time::timeout(LIMIT, this.source.token()).await {
                Ok(result) => result,
                Err(_) => Err(TokenError::passing(format!(
                    "the token source gave no answer within {LIMIT:?}"
                ))),
            };
            match &result {
                Ok(token) => {
                    let lasts = token.expires_at.duration_since(SystemTime::now());
                    events::token_refreshed(begun.elapsed(), lasts.unwrap_or_default());
                }
                Err(error) => events::token_failed(begun.elapsed(), error),
            }
            let mut state = this.state();
            state.pending = None;
            if let Ok(token) = &result {
                state.token = Some(token.clone());
                this.schedule(&mut state);
            }
            drop(state);
            // Nobody may be waiting any more.
            let _ = sender.send(Some(result));
        });
        receiver
    }

    /// Makes sure that the next token is asked for before the present one ends.
    fn schedule(self: &Arc<Self>, state: &mut State) {
        if state.is_scheduled {
            return;
        }
        state.is_scheduled = true;
        tokio::spawn(refresh(Arc::downgrade(self), time_left(state)));
    }
}

fn time_left(state: &State) -> Duration {
    let end = state.token.as_ref().map(|token| token.expires_at);
    let left = end.and_then(|end| end.duration_since(SystemTime::now()).ok());
    left.unwrap_or_default().saturating_sub(REFRESH_BEFORE)
}

/// Asks for the next token when it is time, again and again while the source fails. Ends when
/// there is one, or when nobody uses the cache any more.
async fn refresh(cache: Weak<TokenCache>, mut wait: Duration) {
    loop {
        tokio::time::sleep(wait).await;
        let Some(cache) = cache.upgrade() else { return };
        let mut answer = {
            let mut state = cache.state();
            if !time_left(&state).is_zero() {
                state.is_scheduled = false;
                cache.schedule(&mut state);
                return;
            }
            cache.ask(&mut state)
        };
        // A failure was logged by the request; the present token goes on serving.
        drop(answer.wait_for(Option::is_some).await);
        wait = PAUSE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use tokio::sync::Semaphore;

    /// The lifetime of a token that the source dies over.
    const PANICS: u64 = u64::MAX;

    /// Answers as often as it was allowed to, with tokens of the lifetimes given.
    struct Scripted {
        lifetimes: Vec<Option<u64>>,
        calls: AtomicU32,
        allowed: Semaphore,
    }

    impl Scripted {
        fn cache(lifetimes: &[Option<u64>]) -> (Arc<Self>, Arc<TokenCache>) {
            let source = Arc::new(Self {
                lifetimes: lifetimes.to_vec(),
                calls: AtomicU32::new(0),
                allowed: Semaphore::new(0),
            });
            (source.clone(), TokenCache::new(source))
        }

        fn calls(&self) -> u32 {
            self.calls.load(Ordering::SeqCst)
        }
    }

    #[async_trait::async_trait]
    impl TokenSource for Scripted {
        async fn token(&self) -> Result<AccessToken, TokenError> {
            let call = self.calls.fetch_add(1, Ordering::SeqCst);
            self.allowed.acquire().await.unwrap().forget();
            let lifetime = self.lifetimes.get(call as usize).copied().flatten();
            let lifetime = lifetime.ok_or_else(|| TokenError::new("closed"))?;
            assert_ne!(
                lifetime, PANICS,
                "the source panics, as the test wants it to"
            );
            Ok(AccessToken {
                secret: format!("secret-{call}"),
                expires_at: SystemTime::now() + Duration::from_secs(lifetime),
            })
        }
    }

    async fn until(condition: impl Fn() -> bool) {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_serves_all_who_wait_also_when_it_fails() {
        let (source, cache) = Scripted::cache(&[None, Some(3600)]);
        for expected in [None, Some("secret-1")] {
            let asked = (0..20).map(|_| {
                let cache = cache.clone();
                tokio::spawn(async move { cache.get().await.ok() })
            });
            let asked: Vec<_> = asked.collect();
            tokio::task::yield_now().await;
            source.allowed.add_permits(1);
            for answer in asked {
                assert_eq!(answer.await.unwrap().as_deref(), expected);
            }
        }
        assert_eq!(source.calls(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn request_goes_on_when_its_caller_goes_away() {
        let (source, cache) = Scripted::cache(&[Some(3600)]);
        let first = tokio::spawn({
            let cache = cache.clone();
            async move { cache.get().await }
        });
        until(|| source.calls() == 1).await;
        first.abort();
        source.allowed.add_permits(1);
        assert_eq!(cache.get().await.unwrap(), "secret-0");
        assert_eq!(source.calls(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn valid_token_serves_while_the_next_one_is_asked_for() {
        let (source, cache) = Scripted::cache(&[Some(240), None, Some(3600)]);
        source.allowed.add_permits(1);
        assert_eq!(cache.get().await.unwrap(), "secret-0");
        // Less than five minutes are left: the next request is under way, and nobody waits.
        until(|| source.calls() == 2).await;
        assert_eq!(cache.get().await.unwrap(), "secret-0");
        // It fails, which is nobody's error yet, and is repeated.
        source.allowed.add_permits(1);
        until(|| source.calls() == 3).await;
        assert_eq!(cache.get().await.unwrap(), "secret-0");
        source.allowed.add_permits(1);
        until(|| cache.state().pending.is_none()).await;
        assert_eq!(cache.get().await.unwrap(), "secret-2");
        assert_eq!(source.calls(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn failing_source_is_an_error_when_no_valid_token_is_left() {
        let (source, cache) = Scripted::cache(&[Some(10), None]);
        source.allowed.add_permits(10);
        assert_eq!(cache.get().await.unwrap(), "secret-0");
        assert_eq!(
            cache.get().await.unwrap_err().to_string(),
            "no access token: closed"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn silent_source_is_given_up() {
        let (source, cache) = Scripted::cache(&[]);
        let error = cache.get().await.unwrap_err();
        assert!(error.is_passing(), "{error}");
        assert_eq!(source.calls(), 1);
    }

    /// A source that panicked is asked again, also by the refresh that nobody waits for.
    #[tokio::test(start_paused = true)]
    async fn source_that_panicked_is_asked_again() {
        let (source, cache) = Scripted::cache(&[Some(PANICS), Some(240), Some(PANICS), Some(3600)]);
        source.allowed.add_permits(3);
        let error = cache.get().await.unwrap_err();
        assert!(error.is_passing(), "{error}");
        assert_eq!(cache.get().await.unwrap(), "secret-1");
        until(|| source.calls() == 4).await;
        assert_eq!(cache.get().await.unwrap(), "secret-1");
        source.allowed.add_permits(1);
        until(|| cache.state().pending.is_none()).await;
        assert_eq!(cache.get().await.unwrap(), "secret-3");
    }

    #[tokio::test(start_paused = true)]
    async fn refused_token_is_replaced() {
        let (source, cache) = Scripted::cache(&[Some(3600), Some(3600)]);
        source.allowed.add_permits(2);
        assert_eq!(cache.get().await.unwrap(), "secret-0");
        assert!(cache.forget("secret-0"));
        assert_eq!(cache.get().await.unwrap(), "secret-1");
        // Another connection was refused with the old one and says so late.
        assert!(cache.forget("secret-0"));
        assert_eq!(cache.get().await.unwrap(), "secret-1");
        assert_eq!(source.calls(), 2);
    }

    /// An identity that the server does not let in is refused with every token. Each login would ask for one more.
    #[tokio::test(start_paused = true)]
    async fn replacement_that_is_refused_as_well_stays_for_a_while() {
        let (source, cache) = Scripted::cache(&[Some(3600); 4]);
        source.allowed.add_permits(4);
        assert_eq!(cache.get().await.unwrap(), "secret-0");
        assert!(cache.forget("secret-0"), "another one may do");
        for _ in 0..3 {
            assert_eq!(cache.get().await.unwrap(), "secret-1");
            assert!(cache.forget("secret-0"), "there is another one by now");
            assert!(!cache.forget("secret-1"), "it was the replacement");
        }
        assert_eq!(source.calls(), 2);
        tokio::time::advance(PAUSE).await;
        assert!(cache.forget("secret-1"));
        assert_eq!(cache.get().await.unwrap(), "secret-2");
    }
}
