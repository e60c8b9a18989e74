//! From values to places on a plot.

/// A linear or logarithmic axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    is_log: bool,
}

impl Scale {
    /// Spreads the values from zero to `to` over the places from `start` to `end`.
    pub(super) fn linear(to: f64, start: f64, end: f64) -> Self {
        Self {
            from: 0.0,
            to: if to > 0.0 { to } else { 1.0 },
            start,
            end,
            is_log: false,
        }
    }

    /// Spreads powers evenly. Values below `from` are shown at `from`.
    pub(super) fn log(from: f64, to: f64, start: f64, end: f64) -> Self {
        let from = from.max(1e-6);
        Self {
            from,
            to: to.max(from * 1.01),
            start,
            end,
            is_log: true,
        }
    }

    /// The place of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = if self.is_log {
            (value.max(self.from) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.start + share * (self.end - self.start)
    }

    /// Round values to label the axis with.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.is_log {
            self.log_ticks()
        } else {
            self.linear_ticks()
        }
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let rough = self.to / 4.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(rough);
        let count = (self.to / step + 1e-9).floor() as u32;
        (0..=count).map(|n| f64::from(n) * step).collect()
    }

    /// Powers of ten; with 2 and 5 between them when there are few.
    fn log_ticks(&self) -> Vec<f64> {
        let (low, high) = (
            self.from.log10().floor() as i32,
            self.to.log10().ceil() as i32,
        );
        let decades = (self.to / self.from).log10();
        let factors: &[f64] = if decades > 3.0 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let inside = |tick: &f64| (self.from * 0.999..=self.to * 1.001).contains(tick);
        (low..=high)
            .flat_map(|power| factors.iter().map(move |f| f * 10_f64.powi(power)))
            .filter(inside)
            .collect()
    }
}

/// A tick's label.
pub(super) fn label(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}m", trimmed(v / 1e6)),
        v if v >= 1e4 => format!("{}k", trimmed(v / 1e3)),
        v => trimmed(v),
    }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_the_scale_are_the_ends_of_the_axis() {
        let linear = Scale::linear(50.0, 100.0, 0.0);
        assert_eq!((linear.at(0.0), linear.at(50.0)), (100.0, 0.0));
        let log = Scale::log(1.0, 100.0, 0.0, 10.0);
        assert!((log.at(10.0) - 5.0).abs() < 1e-9);
        assert_eq!(log.at(0.0), 0.0);
        assert!(Scale::linear(0.0, 0.0, 1.0).at(0.0).is_finite());
        assert!(Scale::log(0.0, 0.0, 0.0, 1.0).at(0.0).is_finite());
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::linear(43.0, 0.0, 1.0).ticks(), [0.0, 20.0, 40.0]);
        assert_eq!(Scale::log(1.0, 1e6, 0.0, 1.0).ticks().len(), 7);
        assert_eq!(
            Scale::log(3.0, 60.0, 0.0, 1.0).ticks(),
            [5.0, 10.0, 20.0, 50.0]
        );
        assert_eq!(["0.5", "20", "10k", "1m"], [0.5, 20.0, 1e4, 1e6].map(label));
    }
}
