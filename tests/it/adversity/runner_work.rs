//! The calls that concern activities and sessions.

use std::time::Duration;

use duroxide::providers::{Provider, SessionFetchConfig, TagFilter};

use super::model::{Ms, Session};
use super::runner::{Held, Runner, TICK, equal, ms, same, text, ticks};
use crate::support::items::completed;

impl Runner<'_> {
    pub async fn fetch_work(
        &mut self,
        owner: Option<u64>,
        filter: u64,
        lease: u64,
        session_lease: u64,
        now: Ms,
    ) -> Result<(), String> {
        let filter = match filter {
            0 => TagFilter::DefaultOnly,
            1 => TagFilter::tags(["gpu"]),
            2 => TagFilter::default_and(["gpu"]),
            _ => TagFilter::Any,
        };
        let config = owner.map(|n| SessionFetchConfig {
            owner_id: format!("{}-w{n}", self.prefix),
            lock_timeout: ticks(session_lease),
        });
        let fetched = self
            .provider
            .fetch_work_item(ticks(lease), Duration::ZERO, config.as_ref(), &filter)
            .await;
        let owner = config.as_ref().map(|config| config.owner_id.as_str());
        let work = self.model.work.iter().enumerate();
        let ready: Vec<usize> = work
            .filter(|(_, work)| self.model.may_take(work, owner, &filter, now))
            .map(|(index, _)| index)
            .collect();
        let Some((item, token, attempts)) = text(fetched)? else {
            let missed: Vec<_> = ready.iter().map(|index| &self.model.work[*index]).collect();
            return equal("ready, but not fetched", &missed.len(), &0)
                .map_err(|why| format!("{why}: {missed:?}"));
        };
        let Some(index) = ready
            .into_iter()
            .find(|index| self.model.work[*index].item == item)
        else {
            return Err(format!("{item:?} is not for this caller"));
        };
        let work = &mut self.model.work[index];
        work.attempts += 1;
        work.token = Some(token.clone());
        work.not_before = now + ms(lease);
        equal("attempts", &attempts, &work.attempts)?;
        if let (Some(session), Some(owner)) = (work.session.clone(), owner) {
            let old = self
                .model
                .sessions
                .get(&session)
                .filter(|lease| lease.owner == owner);
            let until = old
                .map_or(0, |lease| lease.until)
                .max(now + ms(session_lease));
            let lease = Session {
                owner: owner.to_owned(),
                until,
                last_activity: now,
            };
            self.model.sessions.insert(session, lease);
        }
        let instance = self.model.work[index].instance.clone();
        self.work.push(Held {
            token,
            instance,
            execution: 1,
            next_event: self.model.work[index].activity,
        });
        Ok(())
    }

    /// The item with a token, if its lease lasts or need not.
    fn held(&self, token: &str, now: Option<Ms>) -> Option<usize> {
        self.model.work.iter().position(|work| {
            work.token.as_deref() == Some(token) && now.is_none_or(|now| work.not_before > now)
        })
    }

    fn touch_session(&mut self, index: usize, now: Ms) {
        let session = self.model.work[index].session.clone();
        let lease = session.and_then(|session| self.model.sessions.get_mut(&session));
        if let Some(lease) = lease.filter(|lease| lease.until > now) {
            lease.last_activity = now;
        }
    }

    pub async fn ack_work(&mut self, work: u64, completes: bool, now: Ms) -> Result<(), String> {
        let Some(held) = Self::pick(&self.work, work) else {
            return Ok(());
        };
        let (token, instance) = (held.token.clone(), held.instance.clone());
        let completion = completes.then(|| completed(&instance, held.next_event, "done"));
        let index = self.held(&token, Some(now));
        if let Some(index) = index {
            self.touch_session(index, now);
            self.model.work.remove(index);
            if let Some(item) = completion.clone() {
                self.model.send(&instance, item, now);
            }
        }
        same(
            index.is_some(),
            self.provider.ack_work_item(&token, completion).await,
        )
    }

    pub async fn abandon_work(
        &mut self,
        work: u64,
        delay: Option<u64>,
        ignore: bool,
        now: Ms,
    ) -> Result<(), String> {
        let Some(token) = Self::pick(&self.work, work).map(|held| held.token.clone()) else {
            return Ok(());
        };
        let index = self.held(&token, None);
        if let Some(index) = index {
            let work = &mut self.model.work[index];
            work.token = None;
            work.not_before = delay.map_or(work.enqueued, |delay| now + ms(delay));
            work.attempts = work.attempts.saturating_sub(u32::from(ignore));
        }
        let answer = self
            .provider
            .abandon_work_item(&token, delay.map(ticks), ignore)
            .await;
        same(index.is_some(), answer)
    }

    pub async fn renew_work(&mut self, work: u64, extend: u64, now: Ms) -> Result<(), String> {
        let Some(token) = Self::pick(&self.work, work).map(|held| held.token.clone()) else {
            return Ok(());
        };
        let index = self.held(&token, Some(now));
        if let Some(index) = index {
            let work = &mut self.model.work[index];
            work.not_before = work.not_before.max(now + ms(extend));
            self.touch_session(index, now);
        }
        same(
            index.is_some(),
            self.provider
                .renew_work_item_lock(&token, ticks(extend))
                .await,
        )
    }

    pub async fn renew_sessions(&mut self, extend: u64, idle: u64, now: Ms) -> Result<(), String> {
        let owner = format!("{}-w0", self.prefix);
        let mut expected = 0;
        for lease in self.model.sessions.values_mut() {
            if lease.owner == owner && lease.until > now && lease.last_activity > now - ms(idle) {
                lease.until = lease.until.max(now + ms(extend));
                expected += 1;
            }
        }
        let renewed = self
            .provider
            .renew_session_lock(&[&owner], ticks(extend), ticks(idle))
            .await;
        equal("renewed sessions", &text(renewed)?, &expected)
    }

    pub async fn clean_up(&mut self, now: Ms) -> Result<(), String> {
        let before = self.model.sessions.len();
        let work = &self.model.work;
        self.model.sessions.retain(|key, lease| {
            lease.until >= now || work.iter().any(|work| work.session.as_ref() == Some(key))
        });
        let removed = self.provider.cleanup_orphaned_sessions(TICK).await;
        equal(
            "removed sessions",
            &text(removed)?,
            &(before - self.model.sessions.len()),
        )
    }
}
