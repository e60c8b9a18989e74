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
/// Pause before a source that failed, as long as there is another token to show, or that gives short-lived tokens, is asked again; so with one whose last token was
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
    /// The last one that the server refused. It may have been right all the same: while a database moves, logins are refused that
    /// were never wrong.
    refused: Option<AccessToken>,
    /// When the source last failed, if it did at its last request.
    failed_at: Option<Instant>,
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

    /// What to log in with when the source gives nothing: a token in its last moments, or one that was refused before. Not `refused`,
    /// which this very login has tried.
    fn rest(&self, refused: Option<&str>) -> Option<&AccessToken> {
        let now = SystemTime::now();
        let known = self.token.iter().chain(&self.refused);
        let mut valid = known.filter(|token| token.expires_at > now);
        valid.find(|token| Some(token.secret.as_str()) != refused)
    }

    fn has_failed_lately(&self) -> bool {
        self.failed_at.is_some_and(|at| at.elapsed() < PAUSE)
    }
}

impl TokenCache {
    pub(super) fn new(source: Arc<dyn TokenSource>) -> Arc<Self> {
        Arc::new(Self {
            source,
            state: Mutex::default(),
        })
    }

    /// The token to log in with, for a login that was `refused` with another. Waits for the source only when no token is left that is
    /// sure to do, and fails only when none is left that may.
    pub(super) async fn get(self: &Arc<Self>, refused: Option<&str>) -> Result<String, TokenError> {
        let (mut answer, limit) = {
            let mut state = self.state();
            if let Some(token) = state.usable() {
                let secret = token.secret.clone();
                self.schedule(&mut state);
                return Ok(secret);
            }
            let limit = match state.rest(refused) {
                Some(token) if state.has_failed_lately() => return Ok(token.secret.clone()),
                Some(_) => PAUSE,
                None => Duration::MAX,
            };
            (self.ask(&mut state), limit)
        };
        let waited = tokio::time::timeout(limit, answer.wait_for(Option::is_some)).await;
        let result = match waited {
            Ok(Ok(answer)) => answer.clone(),
            Ok(Err(_)) | Err(_) => None,
        };
        let failure = match result {
            Some(Ok(token)) => return Ok(token.secret),
            Some(Err(error)) => error,
            // The request ended without an answer, because it panicked, or its runtime has gone; or it takes too long.
            None => TokenError::passing("the token source was interrupted"),
        };
        let state = self.state();
        let rest = state.rest(refused).map(|token| token.secret.clone());
        rest.ok_or(failure)
    }

    /// Puts a token aside that the server refused; the next login waits for another, as long as the source gives one. One that has
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
        state.refused = state.token.take();
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
            match &result {
                Ok(token) => {
                    state.token = Some(token.clone());
                    state.refused = None;
                    state.failed_at = None;
                    this.schedule(&mut state);
                }
                Err(_) => state.failed_at = Some(Instant::now()),
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
                tokio::spawn(async move { cache.get(None).await.ok() })
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
            async move { cache.get(None).await }
        });
        until(|| source.calls() == 1).await;
        first.abort();
        source.allowed.add_permits(1);
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        assert_eq!(source.calls(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn valid_token_serves_while_the_next_one_is_asked_for() {
        let (source, cache) = Scripted::cache(&[Some(240), None, Some(3600)]);
        source.allowed.add_permits(1);
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        // Less than five minutes are left: the next request is under way, and nobody waits.
        until(|| source.calls() == 2).await;
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        // It fails, which is nobody's error yet, and is repeated.
        source.allowed.add_permits(1);
        until(|| source.calls() == 3).await;
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        source.allowed.add_permits(1);
        until(|| cache.state().pending.is_none()).await;
        assert_eq!(cache.get(None).await.unwrap(), "secret-2");
        assert_eq!(source.calls(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn failing_source_is_an_error_when_no_valid_token_is_left() {
        let (source, cache) = Scripted::cache(&[Some(0), None]);
        source.allowed.add_permits(10);
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        assert_eq!(
            cache.get(None).await.unwrap_err().to_string(),
            "no access token: closed"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn silent_source_is_given_up() {
        let (source, cache) = Scripted::cache(&[]);
        let error = cache.get(None).await.unwrap_err();
        assert!(error.is_passing(), "{error}");
        assert_eq!(source.calls(), 1);
    }

    /// A source that panicked is asked again, also by the refresh that nobody waits for.
    #[tokio::test(start_paused = true)]
    async fn source_that_panicked_is_asked_again() {
        let (source, cache) = Scripted::cache(&[Some(PANICS), Some(240), Some(PANICS), Some(3600)]);
        source.allowed.add_permits(3);
        let error = cache.get(None).await.unwrap_err();
        assert!(error.is_passing(), "{error}");
        assert_eq!(cache.get(None).await.unwrap(), "secret-1");
        until(|| source.calls() == 4).await;
        assert_eq!(cache.get(None).await.unwrap(), "secret-1");
        source.allowed.add_permits(1);
        until(|| cache.state().pending.is_none()).await;
        assert_eq!(cache.get(None).await.unwrap(), "secret-3");
    }

    #[tokio::test(start_paused = true)]
    async fn refused_token_is_replaced() {
        let (source, cache) = Scripted::cache(&[Some(3600), Some(3600)]);
        source.allowed.add_permits(2);
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        assert!(cache.forget("secret-0"));
        assert_eq!(cache.get(None).await.unwrap(), "secret-1");
        // Another connection was refused with the old one and says so late.
        assert!(cache.forget("secret-0"));
        assert_eq!(cache.get(None).await.unwrap(), "secret-1");
        assert_eq!(source.calls(), 2);
    }

    /// A token in its last half a minute is better than none.
    #[tokio::test(start_paused = true)]
    async fn token_in_its_last_moments_serves_while_the_source_fails() {
        let (source, cache) = Scripted::cache(&[Some(20), None, Some(3600)]);
        source.allowed.add_permits(10);
        for _ in 0..3 {
            assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        }
        assert!(source.calls() >= 2, "it is asked for another all the same");
        tokio::time::sleep(2 * PAUSE).await;
        assert_eq!(cache.get(None).await.unwrap(), "secret-2");
    }

    /// A server refuses logins while its database moves, with tokens that are as good as ever. With the source down as well, such a
    /// token is all there is.
    #[tokio::test(start_paused = true)]
    async fn refused_token_serves_other_logins_while_the_source_fails() {
        let (source, cache) = Scripted::cache(&[Some(3600), None, None, Some(3600)]);
        source.allowed.add_permits(3);
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        assert!(cache.forget("secret-0"));
        // The login that was refused has no use for it.
        let error = cache.get(Some("secret-0")).await.unwrap_err();
        assert_eq!(error.to_string(), "no access token: closed");
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        assert_eq!(source.calls(), 2, "the source has a pause");
        tokio::time::advance(PAUSE).await;
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        assert_eq!(source.calls(), 3);
        // A source that says nothing holds a login up for a while, and not for as long as one that has nothing to show.
        tokio::time::advance(PAUSE).await;
        let begun = Instant::now();
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        assert_eq!(begun.elapsed(), PAUSE);
        source.allowed.add_permits(1);
        until(|| cache.state().token.is_some()).await;
        assert_eq!(cache.get(None).await.unwrap(), "secret-3");
        assert!(cache.state().refused.is_none());
    }

    /// An identity that the server does not let in is refused with every token. Each login would ask for one more.
    #[tokio::test(start_paused = true)]
    async fn replacement_that_is_refused_as_well_stays_for_a_while() {
        let (source, cache) = Scripted::cache(&[Some(3600); 4]);
        source.allowed.add_permits(4);
        assert_eq!(cache.get(None).await.unwrap(), "secret-0");
        assert!(cache.forget("secret-0"), "another one may do");
        for _ in 0..3 {
            assert_eq!(cache.get(None).await.unwrap(), "secret-1");
            assert!(cache.forget("secret-0"), "there is another one by now");
            assert!(!cache.forget("secret-1"), "it was the replacement");
        }
        assert_eq!(source.calls(), 2);
        tokio::time::advance(PAUSE).await;
        assert!(cache.forget("secret-1"));
        assert_eq!(cache.get(None).await.unwrap(), "secret-2");
    }
}
