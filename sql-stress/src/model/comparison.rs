//! How two reports compare.

use serde::{Deserialize, Serialize};

/// The ratios of two reports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// What was not the same in both, so that the ratios say little.
    pub differences: Vec<String>,
    /// One line per run and measure that both have.
    pub lines: Vec<Compared>,
}

/// One measure of one scenario, before and now.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compared {
    /// The scenario's name.
    pub scenario: String,
    /// Dispatchers and workers.
    pub pair: String,
    /// What is compared.
    pub measure: String,
    /// The earlier value; of several repetitions the median.
    pub before: f64,
    /// The value now; of several repetitions the median.
    pub now: f64,
    /// How many times better it is now, whatever is measured; absent when one of them is zero.
    pub ratio: Option<f64>,
    /// What that means.
    pub verdict: Verdict,
}

/// What a ratio means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Too few repetitions to tell it from noise.
    #[default]
    Unknown,
    /// The repetitions of both overlap.
    WithinNoise,
    /// Every repetition is better than every earlier one; or a count, which knows no noise, is.
    Better,
    /// Every repetition is worse than every earlier one; or a count, which knows no noise, is.
    Worse,
    /// A count is the same.
    Same,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unknown => "may be noise",
            Self::WithinNoise => "within noise",
            Self::Better => "better",
            Self::Worse => "WORSE",
            Self::Same => "same",
        })
    }
}
