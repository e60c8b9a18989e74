//! Work on one long text: counted, and now and then interrupted by the question whether to go on.

use crate::error::SqlResult;

/// How many steps pass between two questions whether to go on.
pub const STEPS_PER_TURN: usize = 4096;

/// Counts the steps of something that can last, and asks now and then whether to go on.
pub struct Steps<'a> {
    taken: usize,
    ask: &'a mut dyn FnMut() -> SqlResult<()>,
}

impl<'a> Steps<'a> {
    pub fn new(ask: &'a mut dyn FnMut() -> SqlResult<()>) -> Self {
        Self { taken: 0, ask }
    }

    /// One more step.
    ///
    /// # Errors
    ///
    /// The answer, when it is to stop.
    pub fn take(&mut self) -> SqlResult<()> {
        self.take_many(1)
    }

    /// So many more steps, at once.
    ///
    /// # Errors
    ///
    /// The answer, when it is to stop.
    pub fn take_many(&mut self, steps: usize) -> SqlResult<()> {
        self.taken += steps;
        if self.taken < STEPS_PER_TURN {
            return Ok(());
        }
        self.taken = 0;
        (self.ask)()
    }

    /// The same question for a part of the work, which goes on counting from here.
    pub fn part(&mut self) -> Steps<'_> {
        Steps {
            taken: self.taken,
            ask: &mut *self.ask,
        }
    }
}
