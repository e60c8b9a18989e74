//! A place where sessions wait until a tester lets them go.

use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How often a waiting session looks whether its client has gone.
const CHECK: Duration = Duration::from_millis(10);

/// Where paused sessions stand.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    inside: Vec<u16>,
    /// Raised by each release; a session leaves when it is no longer what it was on arrival.
    releases: u64,
    /// Nobody is held any more.
    retired: bool,
    wakers: Vec<Waker>,
}

impl Gate {
    /// Holds the calling session. Returns when it is let go, or what `interrupted` said meanwhile.
    pub(crate) fn pass<T>(
        &self,
        spid: u16,
        mut interrupted: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let mut state = self.state.lock();
        if state.retired {
            return None;
        }
        let arrival = state.releases;
        state.inside.push(spid);
        state.wakers.drain(..).for_each(Waker::wake);
        self.changed.notify_all();
        let mut interrupt = None;
        while state.releases == arrival && interrupt.is_none() {
            self.changed.wait_for(&mut state, CHECK);
            interrupt = interrupted();
        }
        state.inside.retain(|inside| *inside != spid);
        interrupt
    }

    /// Lets everyone inside go on.
    pub(crate) fn release(&self) {
        let mut state = self.state.lock();
        state.releases += 1;
        // Those inside need a moment to leave; they must not be mistaken for new arrivals.
        state.inside.clear();
        self.changed.notify_all();
    }

    /// Lets everyone go on, now and for ever.
    pub(crate) fn retire(&self) {
        self.state.lock().retired = true;
        self.release();
    }

    /// Who is inside, in the order of arrival.
    pub(crate) fn inside(&self) -> Vec<u16> {
        self.state.lock().inside.clone()
    }

    /// Waits until a session is inside; `None` when none comes in time.
    pub(crate) fn wait(&self, at_most: Duration) -> Option<u16> {
        let deadline = Instant::now() + at_most;
        let mut state = self.state.lock();
        loop {
            if let Some(spid) = state.inside.first() {
                return Some(*spid);
            }
            if self.changed.wait_until(&mut state, deadline).timed_out() {
                return state.inside.first().copied();
            }
        }
    }

    /// The first session inside, or a promise to wake the caller when there is one.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<u16> {
        let mut state = self.state.lock();
        match state.inside.first() {
            Some(spid) => Poll::Ready(*spid),
            None => {
                state.wakers.push(waker.clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A session stays until it is let go, and the next one is held again.
    #[test]
    fn release_lets_go_only_those_inside() {
        let gate = Arc::new(Gate::default());
        for spid in [51, 52] {
            let entering = Arc::clone(&gate);
            let session = std::thread::spawn(move || entering.pass(spid, || None::<()>));
            assert_eq!(gate.wait(Duration::from_secs(10)), Some(spid));
            gate.release();
            assert_eq!(session.join().unwrap(), None);
            assert!(gate.inside().is_empty());
        }
        gate.retire();
        assert_eq!(gate.pass(53, || None::<()>), None);
    }

    /// A client that hangs up does not stay inside.
    #[test]
    fn interrupts_end_the_pause() {
        let gate = Gate::default();
        assert_eq!(gate.pass(51, || Some("gone")), Some("gone"));
        assert!(gate.inside().is_empty());
    }
}
