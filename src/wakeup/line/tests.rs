//! Who is woken by what, on a clock that the tests move.

use super::reasons::ANSWER_HOLDS;
use super::*;

/// Takes work of its own number only.
#[derive(Clone, PartialEq)]
struct Number(u8);
impl Interest for Number {
    type Work = u8;
    type Kind = u8;
    fn kind(&self) -> u8 {
        self.0
    }
    fn fits(&self, work: &u8) -> bool {
        self.0 == *work
    }
    fn is_watchable(&self) -> bool {
        true
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
    let woken = tokio::join!(a.wait(soon(1)), b.wait(soon(1)), other.wait(soon(1)));
    assert_eq!(woken, (Woken::PollAgain, Woken::TimedOut, Woken::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn signal_between_query_and_wait_is_not_lost() {
    let line = Line::new();
    let mut place = line.join(Number(1), SLOW);
    line.signal(1);
    assert_eq!(place.wait(soon(1)).await, Woken::PollAgain);
    assert_eq!(place.wait(soon(1)).await, Woken::TimedOut);
}

/// While all fetches are busy, work is committed without end: what is kept of it does not grow, the newest is
/// kept, and a fetch that comes later does not take an older "nothing there" for an answer.
#[tokio::test(start_paused = true)]
async fn reasons_are_no_more_than_the_fetches_that_can_take_them_up() {
    let line = Line::new();
    let (mut a, mut b) = (line.join(Number(1), SLOW), line.join(Number(1), SLOW));
    for _ in 0..1000 {
        tokio::time::advance(Duration::from_micros(1)).await;
        line.signal(1);
    }
    assert_eq!(a.group(|group| group.reasons.len()), Some(2));
    // Its query is older than the signals, so that they still hold.
    a.found_nothing(None);
    assert!(!line.join(Number(1), SLOW).is_answered());
    let woken = tokio::join!(a.wait(soon(1)), b.wait(soon(1)));
    assert_eq!(woken, (Woken::PollAgain, Woken::PollAgain));
    b.found_nothing(None);
    assert!(line.join(Number(1), SLOW).is_answered());
}

#[tokio::test(start_paused = true)]
async fn fetch_that_goes_away_hands_its_signal_on() {
    let line = Line::new();
    let first = line.join(Number(1), SLOW);
    let mut second = line.join(Number(1), SLOW);
    line.signal(1);
    drop(first);
    assert_eq!(second.wait(soon(1)).await, Woken::PollAgain);
}

#[tokio::test(start_paused = true)]
async fn fetch_dropped_during_its_query_hands_its_signal_on() {
    let line = Line::new();
    let mut first = line.join(Number(1), SLOW);
    line.signal(1);
    assert_eq!(first.wait(soon(1)).await, Woken::PollAgain);
    let mut second = line.join(Number(1), SLOW);
    drop(first);
    assert_eq!(second.wait(soon(1)).await, Woken::PollAgain);
}

#[tokio::test(start_paused = true)]
async fn fetch_that_found_work_uses_its_signal_up() {
    let line = Line::new();
    let mut first = line.join(Number(1), SLOW);
    line.signal(1);
    assert_eq!(first.wait(soon(1)).await, Woken::PollAgain);
    let mut second = line.join(Number(1), SLOW);
    first.found();
    assert_eq!(second.wait(soon(1)).await, Woken::TimedOut);
}

/// How a wait ended and after how many seconds; work is assumed to be found.
async fn find(mut place: Place<'_, Number>) -> (Woken, u64) {
    let start = Instant::now();
    let woken = place.wait(soon(9)).await;
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
        woken = a.wait(soon(9)) => woken,
        woken = b.wait(soon(9)) => woken,
    };
    assert_eq!((woken, start.elapsed().as_secs()), (Woken::PollAgain, 3));
    let both = tokio::join!(a.wait(soon(9)), b.wait(soon(9)));
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

/// Those who sleep already are told that the next question comes sooner.
#[tokio::test(start_paused = true)]
async fn work_that_was_found_brings_the_next_query_of_sleepers_forward() {
    let line = Line::new();
    let repoll = Repoll {
        min: Duration::from_secs(1),
        max: Duration::from_secs(100),
    };
    let mut sleeper = line.join(Number(1), repoll);
    for _ in 0..10 {
        assert_eq!(sleeper.wait(soon(1_000)).await, Woken::PollAgain);
        sleeper.found_nothing(None);
    }
    let finder = line.join(Number(1), repoll);
    let start = Instant::now();
    let (woken, ()) = tokio::join!(sleeper.wait(soon(1_000)), async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        finder.found();
    });
    assert_eq!(woken, Woken::PollAgain);
    assert!(
        start.elapsed() < Duration::from_secs(12),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn hint_of_the_database_brings_the_next_query_forward() {
    let line = Line::new();
    let mut place = line.join(Number(1), SLOW);
    let start = Instant::now();
    place.found_nothing(Some(soon(2)));
    assert_eq!(place.wait(soon(9)).await, Woken::PollAgain);
    assert_eq!(start.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn fetch_that_comes_after_an_empty_query_need_not_ask() {
    let line = Line::new();
    let mut first = line.join(Number(1), SLOW);
    first.found_nothing(None);
    assert!(line.join(Number(1), SLOW).is_answered());
    assert!(!line.join(Number(2), SLOW).is_answered(), "other interest");
    tokio::time::advance(ANSWER_HOLDS).await;
    assert!(!line.join(Number(1), SLOW).is_answered(), "too old");
}

/// All fetches are busy asking when work comes: the first that has time asks once more.
#[tokio::test(start_paused = true)]
async fn work_that_comes_during_a_query_is_asked_for_after_it() {
    let line = Line::new();
    let mut first = line.join(Number(1), SLOW);
    tokio::time::advance(Duration::from_millis(1)).await;
    line.signal(1);
    first.found_nothing(None);
    let mut second = line.join(Number(1), SLOW);
    assert_eq!(second.wait(soon(1)).await, Woken::PollAgain);
    assert_eq!(first.wait(soon(1)).await, Woken::TimedOut);
}

/// The database was asked after the work came, and had nothing: somebody else was quicker.
#[tokio::test(start_paused = true)]
async fn empty_query_answers_all_reasons_from_before_it() {
    let line = Line::new();
    let mut place = line.join(Number(1), SLOW);
    line.signal(1);
    line.signal(1);
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(place.wait(soon(1)).await, Woken::PollAgain);
    place.found_nothing(None);
    assert_eq!(place.wait(soon(1)).await, Woken::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn unexpected_work_makes_the_next_fetch_ask() {
    let line = Line::new();
    let (mut first, second) = (line.join(Number(1), SLOW), line.join(Number(1), SLOW));
    first.found_nothing(None);
    second.found();
    assert!(!line.join(Number(1), SLOW).is_answered());
}

#[tokio::test(start_paused = true)]
async fn last_fetch_of_its_kind_hands_its_reasons_to_others_that_fit() {
    let line: Line<Either> = Line::new();
    let first = line.join(Either(vec![1]), SLOW);
    line.signal(1);
    let mut other = line.join(Either(vec![1, 2]), SLOW);
    drop(first);
    assert_eq!(other.wait(soon(1)).await, Woken::PollAgain);
}

/// Takes work of any of its numbers.
#[derive(Clone, PartialEq)]
struct Either(Vec<u8>);
impl Interest for Either {
    type Work = u8;
    type Kind = ();
    fn kind(&self) {}
    fn fits(&self, work: &u8) -> bool {
        self.0.contains(work)
    }
    fn is_watchable(&self) -> bool {
        true
    }
}

#[tokio::test(start_paused = true)]
async fn waits_can_be_ended_for_one_kind_of_fetch() {
    let line = Line::new();
    let (mut a, mut b) = (line.join(Number(1), SLOW), line.join(Number(2), SLOW));
    let start = Instant::now();
    let (a, ()) = tokio::join!(a.wait(soon(9)), async { line.end_waits(1) });
    assert_eq!((a, start.elapsed()), (Woken::TimedOut, Duration::ZERO));
    assert_eq!(b.wait(soon(1)).await, Woken::TimedOut);
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

/// What a fetch is was decided before it came, so that the reason to end its wait may have been there already.
#[tokio::test(start_paused = true)]
async fn end_of_waits_holds_for_one_that_was_on_its_way() {
    let line = Line::new();
    let waited = async |number| {
        let start = Instant::now();
        let mut place = line.join(Number(number), SLOW);
        assert_eq!(place.wait(soon(1)).await, Woken::TimedOut);
        start.elapsed()
    };
    let second = Duration::from_secs(1);
    line.end_waits(1);
    assert_eq!(waited(2).await, second, "another kind");
    line.end_waits(1);
    line.end_waits(1);
    assert_eq!(waited(1).await, Duration::ZERO);
    assert_eq!(waited(1).await, second, "once");
    line.end_waits(1);
    tokio::time::advance(LATE).await;
    assert_eq!(waited(1).await, second, "too late");
}

async fn polls_until(mut place: Place<'_, Number>, deadline: Instant) -> u32 {
    let mut count = 0;
    while place.wait(deadline).await == Woken::PollAgain {
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

/// Whoever never wants to ask without a reason says so with the longest of all durations.
#[tokio::test(start_paused = true)]
async fn pauses_and_intervals_of_any_length_are_borne() {
    let forever = Repoll {
        min: Duration::MAX,
        max: Duration::MAX,
    };
    let line = Line::new();
    let mut place = line.join(Number(1), forever);
    for _ in 0..100 {
        place.group(|group| group.quiet.pause(forever.max));
        place.group(|group| group.rhythm.ask(Instant::now(), forever.max));
    }
    assert_eq!(place.wait(soon(1)).await, Woken::TimedOut);
}
