//! Sessions that take turns.

use super::Controls;

impl Controls {
    /// From now on these sessions take turns: one runs at a time, and the adversary's seed says which. Nobody is
    /// chosen before all of them have sent a request, nor while the client of one of them has its answer and has not
    /// sent the next. The clock stands still but for [`Controls::advance`], and passes over the time when all of them
    /// wait for it. Plans are made anew, and ghosts are cleaned up.
    ///
    /// So the same seed, the same rows and clients that do the same give the same statements in the same order, and a
    /// failure can be repeated. Definitions have no part in it: a session that plays must not wait for the locks of one.
    /// Without an adversary nothing happens.
    pub fn take_turns(&self, sessions: &[u16]) {
        let Some(adversary) = &self.engine.adversary else {
            return;
        };
        self.engine.forget_plans();
        self.clean_up_ghosts();
        self.engine.clock.stop();
        adversary
            .turns()
            .seat(sessions.iter().map(|spid| u32::from(*spid)));
    }

    /// How many of them have sent a request that is not answered yet.
    pub fn at_their_turns(&self) -> usize {
        let adversary = self.engine.adversary.as_ref();
        adversary.map_or(0, |adversary| adversary.turns().present())
    }

    /// A session takes no more turns, and runs when it likes.
    pub fn leave_turns(&self, session: u16) {
        if let Some(adversary) = &self.engine.adversary {
            adversary.turns().leave(session.into(), &self.engine.clock);
        }
    }
}
