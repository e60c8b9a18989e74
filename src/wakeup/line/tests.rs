//! Who is woken by what, on a clock that the tests move.

use super::*;

/// Takes work of its own number only.
#[derive(Clone, PartialEq)]
struct Number(u8);
impl Interest for Number {
    type Work = u8;
    fn fits(&self, work: &u8) -> bool {
        self.0 == *work
    }
}

const SLOW: Repoll = Repoll {
    min: Duration::from_secs(100),
    max: Duration::from_secs(100),
};

fn soon(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn signal_wakes_one_fetch_that_fits_and_leaves_the_others() {
    let line = Line::new();
    let (mut a, mut b, mut other) = (
        line.join(Number(1), SLOW),
        line.join(Number(1), SLOW),
        line.join(Number(2), SLOW),
    );
    line.signal(1);
    let woken = tokio::join!(
        a.wait(soon(1), None),
        b.wait(soon(1), None),
        other.wait(soon(1), None)
    );
    assert_eq!(woken, (Woken::PollAgain, Woken::TimedOut, Woken::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn signal_between_query_and_wait_is_not_lost() {
    let line = Line::new();
    let mut place = line.join(Number(1), SLOW);
    line.signal(1);
    assert_eq!(place.wait(soon(1), None).await, Woken::PollAgain);
    assert_eq!(place.wait(soon(1), None).await, Woken::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn fetch_that_goes_away_hands_its_signal_on() {
    let line = Line::new();
    let first = line.join(Number(1), SLOW);
    let mut second = line.join(Number(1), SLOW);
    line.signal(1);
    drop(first);
    assert_eq!(second.wait(soon(1), None).await, Woken::PollAgain);
}

#[tokio::test(start_paused = true)]
async fn fetch_dropped_during_its_query_hands_its_signal_on() {
    let line = Line::new();
    let mut first = line.join(Number(1), SLOW);
    line.signal(1);
    assert_eq!(first.wait(soon(1), None).await, Woken::PollAgain);
    let mut second = line.join(Number(1), SLOW);
    drop(first);
    assert_eq!(second.wait(soon(1), None).await, Woken::PollAgain);
}

#[tokio::test(start_paused = true)]
async fn fetch_that_found_work_uses_its_signal_up() {
    let line = Line::new();
    let mut first = line.join(Number(1), SLOW);
    line.signal(1);
    assert_eq!(first.wait(soon(1), None).await, Woken::PollAgain);
    let mut second = line.join(Number(1), SLOW);
    first.found();
    assert_eq!(second.wait(soon(1), None).await, Woken::TimedOut);
}

/// How a wait ended and after how many seconds; work is assumed to be found.
async fn find(mut place: Place<'_, Number>) -> (Woken, u64) {
    let start = Instant::now();
    let woken = place.wait(soon(9), None).await;
    if woken == Woken::PollAgain {
        place.found();
    }
    (woken, start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn later_work_wakes_one_fetch_when_it_is_due() {
    let line = Line::new();
    let (mut a, mut b) = (line.join(Number(1), SLOW), line.join(Number(1), SLOW));
    line.signal_at(soon(5), &1);
    line.signal_at(soon(3), &1);
    let start = Instant::now();
    let woken = tokio::select! {
        woken = a.wait(soon(9), None) => woken,
        woken = b.wait(soon(9), None) => woken,
    };
    assert_eq!((woken, start.elapsed().as_secs()), (Woken::PollAgain, 3));
    let both = tokio::join!(a.wait(soon(9), None), b.wait(soon(9), None));
    assert_eq!(both, (Woken::TimedOut, Woken::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn fetch_that_found_unexpected_work_sends_another_to_look() {
    let line = Line::new();
    let (a, b) = (line.join(Number(1), SLOW), line.join(Number(1), SLOW));
    line.signal_at(soon(3), &1);
    let both = tokio::join!(find(a), find(b));
    assert_eq!(both, ((Woken::PollAgain, 3), (Woken::PollAgain, 3)));
}

#[tokio::test(start_paused = true)]
async fn hint_of_the_database_brings_the_next_query_forward() {
    let line = Line::new();
    let mut place = line.join(Number(1), SLOW);
    let start = Instant::now();
    assert_eq!(place.wait(soon(9), Some(soon(2))).await, Woken::PollAgain);
    assert_eq!(start.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn fetch_that_comes_after_an_empty_query_need_not_ask() {
    let line = Line::new();
    let first = line.join(Number(1), SLOW);
    first.found_nothing();
    assert!(line.join(Number(1), SLOW).is_answered());
    assert!(!line.join(Number(2), SLOW).is_answered(), "other interest");
    tokio::time::advance(ANSWER_HOLDS).await;
    assert!(!line.join(Number(1), SLOW).is_answered(), "too old");
}

#[tokio::test(start_paused = true)]
async fn work_that_nobody_was_told_of_is_asked_for() {
    let line = Line::new();
    let first = line.join(Number(1), SLOW);
    first.found_nothing();
    line.signal(1);
    assert!(line.join(Number(1), SLOW).is_answered(), "told");
    line.signal(1);
    assert!(!line.join(Number(1), SLOW).is_answered(), "not told");
    first.found_nothing();
    assert!(
        !line.join(Number(1), SLOW).is_answered(),
        "asked before the work came"
    );
}

#[tokio::test(start_paused = true)]
async fn unexpected_work_makes_the_next_fetch_ask() {
    let line = Line::new();
    let (first, second) = (line.join(Number(1), SLOW), line.join(Number(1), SLOW));
    first.found_nothing();
    second.found();
    assert!(!line.join(Number(1), SLOW).is_answered());
}

async fn polls_until(mut place: Place<'_, Number>, deadline: Instant) -> u32 {
    let mut count = 0;
    while place.wait(deadline, None).await == Woken::PollAgain {
        count += 1;
    }
    count
}

#[tokio::test(start_paused = true)]
async fn idle_fetches_share_queries_that_become_rarer() {
    let line = Line::new();
    let repoll = Repoll {
        min: Duration::from_millis(100),
        max: Duration::from_secs(1),
    };
    let deadline = soon(60);
    let (a, b) = tokio::join!(
        polls_until(line.join(Number(1), repoll), deadline),
        polls_until(line.join(Number(1), repoll), deadline)
    );
    assert!(
        (40..=130).contains(&(a + b)),
        "{a} + {b} queries in a minute"
    );
}
