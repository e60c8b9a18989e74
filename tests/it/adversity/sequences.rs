//! Random calls of the provider, clock jumps included, each answer compared with the model's.
//!
//! A sequence that fails is shortened as far as it still fails, and printed.

use duroxide_sql::MssqlProvider;
use mssql_embedded::Controls;

use super::dump;
use super::model::Model;
use super::operations::{Operation, operations};
use super::runner::Runner;
use crate::support::checker;
use crate::support::database::TestSchema;
use crate::support::mutants;
use crate::support::session::Session;
use crate::support::setting::{Setting, Witness};

const CALLS: usize = 60;

struct Bench {
    provider: MssqlProvider,
    controls: Controls,
    side: Session,
    runs: u64,
}

impl Bench {
    /// The step at which the sequence fails, and how.
    async fn run(&mut self, sequence: &[Operation]) -> Option<(usize, String)> {
        self.runs += 1;
        dump::empty(&mut self.side).await;
        let mut runner = Runner {
            provider: &self.provider,
            controls: &self.controls,
            model: Model::default(),
            prefix: format!("run{}", self.runs),
            turns: Vec::new(),
            work: Vec::new(),
            activities: 0,
        };
        for (step, operation) in sequence.iter().enumerate() {
            if let Err(why) = runner.step(operation).await {
                return Some((step, why));
            }
        }
        let broken = checker::promises(&mut self.side).await;
        (!broken.is_empty()).then(|| (sequence.len() - 1, format!("{broken:?}")))
    }

    /// Leaves out what the failure does not need.
    async fn shorten(&mut self, mut sequence: Vec<Operation>) -> Vec<Operation> {
        let mut part = sequence.len() / 2;
        while part > 0 {
            let mut at = 0;
            while at < sequence.len() {
                let mut shorter = sequence.clone();
                shorter.drain(at..(at + part).min(sequence.len()));
                match self.run(&shorter).await {
                    Some((step, _)) => {
                        shorter.truncate(step + 1);
                        sequence = shorter;
                    }
                    None => at += part,
                }
            }
            part /= 2;
        }
        sequence
    }
}

/// Every answer of the provider is one that the model accepts.
#[tokio::test]
async fn provider_answers_as_the_model_does() {
    for setting in Setting::each(0..8, &[]).map(Setting::with_adversary) {
        let server = setting.start();
        let _witness = Witness::of(&server);
        let schema = TestSchema::at(server.connection_string());
        let mut bench = Bench {
            provider: schema.provider().await,
            controls: server.controls(),
            side: Session::open(&schema).await,
            runs: 0,
        };
        let sequence = operations(setting.seed, CALLS);
        if let Some((step, why)) = bench.run(&sequence).await {
            // That it fails is all that is asked of a mutant.
            assert!(mutants::wanted().is_none(), "{setting:?}: {why}");
            let shortest = bench.shorten(sequence[..=step].to_vec()).await;
            let why = bench.run(&shortest).await.map(|(_, why)| why);
            panic!("{setting:?}: {why:?} after\n{shortest:#?}");
        }
    }
}
