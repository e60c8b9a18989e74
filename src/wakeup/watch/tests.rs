//! What is asked for, and who hears the answer, on a clock that the tests move.

use std::time::Duration;

use super::*;
use crate::wakeup::{Repoll, Woken};

const HOUR: Duration = Duration::from_secs(3600);
const SLOW: Repoll = Repoll {
    min: HOUR,
    max: HOUR,
};
const QUICK: Repoll = Repoll {
    min: Duration::from_millis(100),
    max: Duration::from_millis(500),
};

fn worker(tags: TagFilter, sessions: Sessions) -> WorkerInterest {
    WorkerInterest { tags, sessions }
}

fn versions(versions: Option<(i64, i64)>) -> OrchestrationInterest {
    OrchestrationInterest { versions }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

#[test]
fn one_question_covers_all_interests() {
    let wanted = Wanted {
        orchestrations: vec![versions(Some((3, 5))), versions(Some((1, 4)))],
        workers: vec![
            worker(TagFilter::DefaultOnly, Sessions::None),
            worker(TagFilter::tags(["b", "a"]), Sessions::Free),
            worker(TagFilter::tags(["a"]), Sessions::Owned("w".into())),
        ],
    };
    let question = wanted.question();
    assert_eq!(question.versions, Some((1, 5)));
    assert_eq!(question.tags, ["a", "b"]);
    assert_eq!(question.session_owners, ["w"]);
    assert!(question.orchestrations && question.include_untagged && question.sessions);
    assert!(!question.any_tag);
    let all = Wanted {
        orchestrations: vec![versions(Some((3, 5))), versions(None)],
        workers: vec![],
    };
    assert_eq!(all.question().versions, None);
    assert!(!all.question().sessions && all.question().tags.is_empty());
}

/// A fetch is watched for when it has been idle for a moment, hears what is seen, and is not
/// watched for again before it has asked.
#[tokio::test(start_paused = true)]
async fn idle_fetch_is_watched_for_and_woken() {
    let wakeups = Wakeups::new();
    let interest = versions(None);
    let mut place = wakeups.orchestrations.join(interest.clone(), SLOW);
    let (woken, wanted) = tokio::join!(place.wait(soon()), async {
        let wanted = wakeups.wanted().await;
        wakeups.watch(&wanted);
        let seen = Seen {
            orchestration: true,
            ..Seen::default()
        };
        assert!(wakeups.seen(&seen));
        assert!(wakeups.seen(&Seen::default()), "nothing is no surprise");
        wanted
    });
    assert_eq!(woken, Woken::PollAgain);
    assert_eq!(wanted.orchestrations, [interest]);
    assert!(wakeups.orchestrations.watchable().interests.is_empty());
}

/// What fits nobody is reported, so that the watch does not see it again at once.
#[tokio::test(start_paused = true)]
async fn only_those_are_woken_who_can_take_what_is_seen() {
    let wakeups = Wakeups::new();
    let join = |interest| wakeups.workers.join(interest, SLOW);
    let mut plain = join(worker(TagFilter::DefaultOnly, Sessions::None));
    let mut gpu = join(worker(TagFilter::tags(["gpu"]), Sessions::Free));
    let mut owner = join(worker(TagFilter::DefaultOnly, Sessions::Owned("w".into())));
    let watching = async {
        let wanted = loop {
            let wanted = wakeups.wanted().await;
            if wanted.workers.len() == 3 {
                break wanted;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        wakeups.watch(&wanted);
        let gpu_session = Seen {
            session: Some(Some("gpu".into())),
            ..Seen::default()
        };
        assert!(wakeups.seen(&gpu_session));
        let others = Seen {
            session: Some(Some("cpu".into())),
            owned: Some(("x".into(), None)),
            ..Seen::default()
        };
        assert!(!wakeups.seen(&others));
    };
    let deadline = soon();
    let (plain, gpu, owner, ()) = tokio::join!(
        plain.wait(deadline),
        gpu.wait(deadline),
        owner.wait(deadline),
        watching
    );
    assert_eq!(
        (plain, gpu, owner),
        (Woken::TimedOut, Woken::PollAgain, Woken::TimedOut)
    );
}

/// Another process was quicker: the fetch asks by itself for a while, longer each time.
#[tokio::test(start_paused = true)]
async fn watch_pauses_after_waking_in_vain() {
    let wakeups = Wakeups::new();
    let mut place = wakeups.orchestrations.join(versions(None), SLOW);
    let mut pauses = Vec::new();
    for _ in 0..6 {
        let asleep_at = Instant::now();
        let (woken, ()) = tokio::join!(place.wait(soon()), async {
            wakeups.watch(&wakeups.wanted().await);
            pauses.push(asleep_at.elapsed());
            wakeups.seen(&Seen {
                orchestration: true,
                ..Seen::default()
            });
        });
        assert_eq!(woken, Woken::PollAgain);
        place.found_nothing(None);
    }
    assert!(pauses[0] < Duration::from_millis(60), "{pauses:?}");
    assert!(pauses[5] > Duration::from_millis(150), "{pauses:?}");
}

/// How often a fetch asks within a minute.
async fn asks(wakeups: &Wakeups) -> u32 {
    let mut place = wakeups.orchestrations.join(versions(None), QUICK);
    let deadline = soon();
    let mut asks = 0;
    while place.wait(deadline).await == Woken::PollAgain {
        asks += 1;
        place.found_nothing(None);
    }
    asks
}

#[tokio::test(start_paused = true)]
async fn fetch_that_is_watched_for_hardly_asks() {
    let wakeups = Wakeups::new();
    let watching = async { wakeups.watch(&wakeups.wanted().await) };
    let (watched, ()) = tokio::join!(asks(&wakeups), watching);
    assert!((6..=26).contains(&watched), "{watched}");
    // The fetch went away; one with the same interest is watched for from the start.
    let later = asks(&wakeups).await;
    assert!((6..=26).contains(&later), "{later}");
    wakeups.watch_nothing();
    let alone = asks(&wakeups).await;
    assert!(alone > 60, "{alone}");
}

/// The watch ends while a fetch sleeps: it asks again at its own interval.
#[tokio::test(start_paused = true)]
async fn end_of_the_watch_is_noticed_at_once() {
    let wakeups = Wakeups::new();
    let mut place = wakeups.orchestrations.join(versions(None), QUICK);
    let start = Instant::now();
    let (woken, ()) = tokio::join!(place.wait(soon()), async {
        wakeups.watch(&wakeups.wanted().await);
        tokio::time::sleep(Duration::from_secs(1)).await;
        wakeups.watch_nothing();
    });
    assert_eq!(woken, Woken::PollAgain);
    let asked = start.elapsed();
    assert!(
        asked >= Duration::from_secs(1) && asked < Duration::from_secs(2),
        "{asked:?}"
    );
}

/// A time that the database named is kept, watched or not.
#[tokio::test(start_paused = true)]
async fn watch_does_not_delay_what_is_known_to_become_ready() {
    let wakeups = Wakeups::new();
    let mut place = wakeups.orchestrations.join(versions(None), SLOW);
    place.found_nothing(Some(Instant::now() + Duration::from_secs(2)));
    let start = Instant::now();
    let watching = async { wakeups.watch(&wakeups.wanted().await) };
    let (woken, ()) = tokio::join!(place.wait(soon()), watching);
    assert_eq!((woken, start.elapsed().as_secs()), (Woken::PollAgain, 2));
}

/// A watch that has been deaf wakes all who relied on it, before their own time comes.
#[tokio::test(start_paused = true)]
async fn silent_watch_has_everybody_ask() {
    let wakeups = Wakeups::new();
    let mut turn = wakeups.orchestrations.join(versions(None), SLOW);
    let interest = worker(TagFilter::DefaultOnly, Sessions::None);
    let mut work = wakeups.workers.join(interest, SLOW);
    let deaf = async {
        let mut wanted = wakeups.wanted().await;
        if wanted.orchestrations.is_empty() || wanted.workers.is_empty() {
            wanted = wakeups.wanted_beside(&wanted).await;
        }
        wakeups.watch(&wanted);
        wakeups.unheard();
        wakeups.watch_nothing();
    };
    let (turn, work, ()) = tokio::join!(turn.wait(soon()), work.wait(soon()), deaf);
    assert_eq!((turn, work), (Woken::PollAgain, Woken::PollAgain));
}
