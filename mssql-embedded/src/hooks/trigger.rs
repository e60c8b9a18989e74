//! Where a rule acts: a moment of a request, narrowed down by procedure, text, session and count.

/// The moments at which a rule can act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A request was read and nothing of it has run.
    Request,
    /// A statement is about to run.
    Statement,
    /// The outermost COMMIT is about to commit.
    Commit,
    Committed,
    /// A request has run and the rest of its answer is not sent.
    Response,
}

/// What happens now, to be compared with the triggers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<'a> {
    /// How far the request has come.
    pub(crate) moment: Moment,
    pub(crate) spid: u16,
    /// `schema.name` of the running procedure, empty in a batch.
    pub(crate) procedure: &'a str,
    /// What the request calls, as its counters name it.
    pub(crate) request: &'a str,
    /// The text of the statement or of the batch.
    pub(crate) text: &'a str,
}

/// A moment in the life of requests at which a rule of [`crate::Controls`] acts.
///
/// Without further words it means every such moment of every session; each method narrows it down.
/// A rule acts once, at the first moment that matches; [`Trigger::after`] and [`Trigger::times`] say
/// otherwise.
#[derive(Clone, Debug)]
#[must_use = "a trigger does nothing until a rule is armed with it"]
pub struct Trigger {
    moment: Moment,
    procedure: Option<String>,
    text: Option<String>,
    session: Option<u16>,
    after: u64,
    times: u64,
}

impl Trigger {
    fn at(moment: Moment) -> Self {
        Self {
            moment,
            procedure: None,
            text: None,
            session: None,
            after: 0,
            times: 1,
        }
    }

    /// Before a statement runs, in a batch or in a procedure. The condition of an IF or WHILE counts
    /// as a statement of its own, whose text ends where the body begins.
    pub fn statement() -> Self {
        Self::at(Moment::Statement)
    }

    /// When a request has arrived: a batch or a procedure call, of which nothing has run yet.
    pub fn request() -> Self {
        Self::at(Moment::Request)
    }

    /// Before a transaction commits: at the outermost COMMIT. A statement without an open transaction
    /// commits with itself and has no such moment.
    pub fn commit() -> Self {
        Self::at(Moment::Commit)
    }

    /// After a transaction has committed, before the client can know.
    pub fn committed() -> Self {
        Self::at(Moment::Committed)
    }

    /// When a request has been served, before its answer is sent (an answer of more than 64 KiB has
    /// been sent in part by then).
    pub fn response() -> Self {
        Self::at(Moment::Response)
    }

    /// Only in this procedure: the one whose statement it is, or the one the client called. A name
    /// without a schema matches in every schema.
    pub fn of(mut self, procedure: impl Into<String>) -> Self {
        self.procedure = Some(procedure.into());
        self
    }

    /// Only where the text of the statement (at [`Trigger::request`] and [`Trigger::response`]: of
    /// the batch) contains this. Case and the amount of white space do not matter.
    pub fn containing(mut self, text: &str) -> Self {
        self.text = Some(normalised(text));
        self
    }

    /// Only in the session with this @@SPID.
    pub fn by(mut self, spid: u16) -> Self {
        self.session = Some(spid);
        self
    }

    /// Lets the first `n` matches pass.
    pub fn after(mut self, n: u64) -> Self {
        self.after = n;
        self
    }

    /// Acts on this many matches instead of one.
    pub fn times(mut self, n: u64) -> Self {
        self.times = n;
        self
    }

    /// Acts on every match.
    pub fn always(self) -> Self {
        self.times(u64::MAX)
    }

    /// Whether the rule acts on its `nth` match, counted from 0.
    pub(super) fn acts_on(&self, nth: u64) -> bool {
        nth >= self.after && nth - self.after < self.times
    }

    pub(super) fn matches(&self, event: &Event<'_>) -> bool {
        self.moment == event.moment
            && self.session.is_none_or(|spid| spid == event.spid)
            && self.procedure.as_deref().is_none_or(|name| {
                same_procedure(name, event.procedure) || same_procedure(name, event.request)
            })
            && self
                .text
                .as_deref()
                .is_none_or(|text| normalised(event.text).contains(text))
    }
}

/// Whether a name, with or without its schema, means the procedure `schema.name`.
pub(super) fn same_procedure(name: &str, qualified: &str) -> bool {
    if name.eq_ignore_ascii_case(qualified) {
        return true;
    }
    let last = qualified.rsplit('.').next().unwrap_or(qualified);
    !name.contains('.') && name.eq_ignore_ascii_case(last)
}

fn normalised(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement<'a>(procedure: &'a str, text: &'a str) -> Event<'a> {
        Event {
            moment: Moment::Statement,
            spid: 51,
            procedure,
            request: "s.outer",
            text,
        }
    }

    /// A rule follows a procedure by its bare or its full name, whether it runs the statement or was
    /// called by the client.
    #[test]
    fn of_names_the_running_or_the_called_procedure() {
        let event = statement("s.inner", "SELECT 1");
        for name in ["inner", "S.Inner", "outer", "s.outer"] {
            assert!(Trigger::statement().of(name).matches(&event), "{name}");
        }
        for name in ["t.inner", "nner", "s"] {
            assert!(!Trigger::statement().of(name).matches(&event), "{name}");
        }
    }

    #[test]
    fn containing_overlooks_case_and_white_space() {
        let event = statement("", "update  dbo.t\n   SET a = 1");
        let fragment = Trigger::statement().containing("UPDATE dbo.t set");
        assert!(fragment.matches(&event));
        assert!(!Trigger::commit().matches(&event));
        assert!(!Trigger::statement().by(52).matches(&event));
    }

    #[test]
    fn after_and_times_choose_the_matches() {
        let trigger = Trigger::statement().after(2).times(2);
        let acts: Vec<bool> = (0..6).map(|n| trigger.acts_on(n)).collect();
        assert_eq!(acts, [false, false, true, true, false, false]);
        assert!(Trigger::request().always().acts_on(1_000_000));
    }
}
