use super::line::Place;
use super::*;

fn activity(tag: Option<&str>, session: Option<&str>) -> WorkItem {
    WorkItem::ActivityExecute {
        instance: "i".into(),
        execution_id: 1,
        id: 1,
        name: "a".into(),
        input: String::new(),
        session_id: session.map(Into::into),
        tag: tag.map(Into::into),
    }
}

fn slow() -> Repoll {
    Repoll {
        min: Duration::from_secs(100),
        max: Duration::from_secs(100),
    }
}

fn session_config(owner: &str) -> SessionFetchConfig {
    SessionFetchConfig {
        owner_id: owner.into(),
        lock_timeout: Duration::from_secs(30),
    }
}

async fn is_woken<I: Interest>(place: &mut Place<'_, I>) -> bool {
    place.wait(Instant::now() + Duration::from_millis(10)).await == Woken::PollAgain
}

#[tokio::test(start_paused = true)]
async fn work_wakes_only_workers_that_may_take_it() {
    let wakeups = Wakeups::new();
    let join = |tags, session: Option<&str>| {
        let session = session.map(session_config);
        let interest = wakeups.worker(&tags, session.as_ref());
        wakeups.workers.join(interest, slow())
    };
    let mut gpu = join(TagFilter::tags(["gpu"]), Some("w"));
    let mut taker = join(TagFilter::DefaultOnly, Some("w"));
    tokio::time::advance(Duration::from_secs(1)).await;
    let mut plain = join(TagFilter::DefaultOnly, None);
    wakeups.work(&activity(Some("gpu"), None));
    assert!(is_woken(&mut gpu).await && !is_woken(&mut plain).await);
    wakeups.work(&activity(None, Some("s")));
    assert!(is_woken(&mut taker).await && !is_woken(&mut plain).await);
}

/// Who they are matters only while they may own a session.
#[tokio::test(start_paused = true)]
async fn workers_are_equal_until_they_own_a_session() {
    let wakeups = Wakeups::new();
    let interest = |owner| wakeups.worker(&TagFilter::Any, Some(&session_config(owner)));
    assert_eq!(interest("a"), interest("b"));
    assert_ne!(interest("a"), wakeups.worker(&TagFilter::Any, None));
    wakeups.session_owned(&session_config("a"), Instant::now());
    assert_ne!(interest("a"), interest("b"));
    tokio::time::advance(Duration::from_secs(25)).await;
    wakeups.sessions_renewed(&["a", "b"], 1, Instant::now(), Duration::from_secs(30));
    tokio::time::advance(Duration::from_secs(25)).await;
    assert_ne!(interest("a"), interest("b"), "renewed");
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(interest("a"), interest("b"), "over");
    // Sessions of a former process with the same names.
    wakeups.sessions_renewed(&["a", "b"], 1, Instant::now(), Duration::from_secs(30));
    assert_ne!(interest("a"), interest("b"));
}

/// Workers of one owner share its sessions, also those that began to wait before there was one.
#[tokio::test(start_paused = true)]
async fn first_session_of_an_owner_ends_the_waits_of_those_without() {
    let wakeups = Wakeups::new();
    let interest = || wakeups.worker(&TagFilter::Any, Some(&session_config("a")));
    let mut free = wakeups.workers.join(interest(), slow());
    let start = Instant::now();
    let (woken, ()) = tokio::join!(free.wait(start + Duration::from_secs(30)), async {
        wakeups.session_owned(&session_config("a"), Instant::now());
    });
    assert_eq!((woken, start.elapsed()), (Woken::TimedOut, Duration::ZERO));
    let mut owner = wakeups.workers.join(interest(), slow());
    let (woken, ()) = tokio::join!(owner.wait(start + Duration::from_secs(9)), async {
        wakeups.session_owned(&session_config("a"), Instant::now());
    });
    assert_eq!(woken, Woken::TimedOut);
    assert_eq!(start.elapsed(), Duration::from_secs(9), "known already");
}

/// Both the worker that may own the session and one of the others ask.
#[tokio::test(start_paused = true)]
async fn item_of_a_session_wakes_its_possible_owner_and_one_of_the_others() {
    let wakeups = Wakeups::new();
    wakeups.session_owned(&session_config("a"), Instant::now());
    let join = |owner| {
        let interest = wakeups.worker(&TagFilter::Any, Some(&session_config(owner)));
        wakeups.workers.join(interest, slow())
    };
    let (mut a, mut b, mut c) = (join("a"), join("b"), join("c"));
    wakeups.work(&activity(None, Some("s")));
    assert!(is_woken(&mut a).await);
    assert!(is_woken(&mut b).await ^ is_woken(&mut c).await);
}

/// A runtime at its limit of sessions fetches without; when another of its workers takes
/// sessions again, there is room.
#[tokio::test(start_paused = true)]
async fn worker_that_takes_sessions_ends_the_waits_of_those_that_could_not() {
    let wakeups = Wakeups::new();
    let capped = wakeups.worker(&TagFilter::Any, None);
    let mut capped = wakeups.workers.join(capped, slow());
    let start = Instant::now();
    let (woken, _) = tokio::join!(capped.wait(start + Duration::from_secs(30)), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        wakeups.worker(&TagFilter::Any, Some(&session_config("a")))
    });
    assert_eq!(woken, Woken::TimedOut);
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    // Another one had asked its runtime before that room was there.
    let late = wakeups.worker(&TagFilter::Any, None);
    let mut late = wakeups.workers.join(late, slow());
    assert_eq!(
        late.wait(start + Duration::from_secs(30)).await,
        Woken::TimedOut
    );
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn message_for_an_instance_in_its_turn_waits_for_the_end_of_the_turn() {
    let wakeups = Wakeups::new();
    let mut place = wakeups
        .orchestrations
        .join(OrchestrationInterest { versions: None }, slow());
    wakeups.turn_began("token", "order-1", Instant::now(), Duration::from_secs(5));
    wakeups.orchestration_ready("order-1");
    assert!(!is_woken(&mut place).await);
    wakeups.orchestration_ready("order-2");
    assert!(is_woken(&mut place).await);
    wakeups.turn_ended("token");
    assert!(is_woken(&mut place).await);
    wakeups.turn_began("token", "order-1", Instant::now(), Duration::from_secs(5));
    wakeups.turn_ended("token");
    assert!(!is_woken(&mut place).await);
}

/// The claim was committed before the message came, and its answer is read afterwards.
#[tokio::test(start_paused = true)]
async fn message_between_a_claim_and_its_answer_waits_for_the_end_of_the_turn() {
    let wakeups = Wakeups::new();
    let lease = Duration::from_secs(5);
    let interest = || OrchestrationInterest { versions: None };
    let mut place = wakeups.orchestrations.join(interest(), slow());
    let asked_at = Instant::now();
    wakeups.orchestration_ready("order-1");
    assert!(is_woken(&mut place).await, "in no turn, for all one knows");
    place.found_nothing(None);
    wakeups.turn_began("token", "order-1", asked_at, lease);
    wakeups.turn_ended("token");
    assert!(is_woken(&mut place).await);
    place.found_nothing(None);
    // The next one has it.
    tokio::time::advance(Duration::from_millis(1)).await;
    wakeups.turn_began("another", "order-1", Instant::now(), lease);
    wakeups.turn_ended("another");
    assert!(!is_woken(&mut place).await);
}

#[tokio::test(start_paused = true)]
async fn activity_that_is_given_back_wakes_a_worker_of_each_kind() {
    let wakeups = Wakeups::new();
    let join = |tags| wakeups.workers.join(wakeups.worker(&tags, None), slow());
    let (mut gpu, mut plain) = (join(TagFilter::tags(["gpu"])), join(TagFilter::DefaultOnly));
    wakeups.work_returned(None);
    assert!(is_woken(&mut gpu).await && is_woken(&mut plain).await);
    wakeups.work_returned(Some(Duration::from_secs(1)));
    assert!(!is_woken(&mut gpu).await && !is_woken(&mut plain).await);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(is_woken(&mut gpu).await && is_woken(&mut plain).await);
}

#[tokio::test]
async fn providers_of_one_schema_share_their_signals() {
    let a = Wakeups::shared("host/db/one".into());
    assert!(Arc::ptr_eq(&a, &Wakeups::shared("host/db/one".into())));
    assert!(!Arc::ptr_eq(&a, &Wakeups::shared("host/db/two".into())));
}
