//! The bar that is shown while a run goes on.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::task::JoinHandle;

use crate::recorder::Recorder;

const REFRESH: Duration = Duration::from_millis(200);

/// A bar for one run; it goes away when dropped.
pub struct Progress {
    bar: ProgressBar,
    ticker: JoinHandle<()>,
}

impl Progress {
    /// Shows a bar for a run of this length. A bar that nobody can see costs nothing.
    #[must_use]
    pub fn start(title: &str, length: Duration, recorder: Arc<Recorder>, quiet: bool) -> Self {
        let bar = ProgressBar::new(length.as_millis() as u64);
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{prefix} {bar:24} {elapsed:>4}  {msg}");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(title.to_owned());
        let shown = bar.clone();
        let ticker = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(REFRESH);
            loop {
                ticks.tick().await;
                let live = recorder.live();
                shown.set_position(recorder.begun().elapsed().as_millis() as u64);
                shown.set_message(format!(
                    "{} done  {:.1}/s  p50 {:.1} ms  p99 {:.1} ms  {} errors",
                    live.completed, live.rate, live.p50_ms, live.p99_ms, live.errors
                ));
            }
        });
        Self { bar, ticker }
    }

    /// Says what is being prepared, above the bar.
    pub fn note(&self, text: &str) {
        self.bar.println(text);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.ticker.abort();
        self.bar.finish_and_clear();
    }
}
