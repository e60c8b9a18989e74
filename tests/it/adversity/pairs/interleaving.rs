//! Runs each pair in both serial orders and then statement by statement in others.

use std::time::Instant;

use mssql_embedded::Controls;

use super::super::dump;
use super::super::stepper::{Actor, Answer, Order, run};
use super::{End, HELD, Pair, pairs};
use crate::support::checker;
use crate::support::database::TestSchema;
use crate::support::dice::Dice;
use crate::support::mutants;
use crate::support::session::Session;
use crate::support::setting::{self, Setting, Witness};

struct Bench {
    schema: TestSchema,
    controls: Controls,
    actors: [Actor; 2],
    side: Session,
}

impl Bench {
    async fn run(&mut self, pair: &Pair, order: &Order) -> Result<End, String> {
        dump::empty(&mut self.side).await;
        for step in &pair.setup {
            let step = self.named(step).await;
            let done = self.side.run(&format!("EXEC [$(schema)].{step};")).await;
            done.unwrap_or_else(|number| panic!("{}: {number} from {step}", pair.name));
        }
        self.controls.advance(pair.idle);
        let mut calls = pair.calls.clone();
        for call in &mut calls {
            call.text = self.named(&call.text).await;
        }
        let answers = run(&mut self.actors, &calls, order, &self.controls).await;
        let broken = checker::broken(&mut self.side, &self.controls).await;
        if !broken.is_empty() {
            return Err(format!("{broken:?} after {answers:?}"));
        }
        for answer in &answers {
            check_error(answer)?;
        }
        let mut end = self.end(&answers).await;
        if pair.name.starts_with("delete/") || pair.name.starts_with("purge/") {
            end.0.iter_mut().for_each(forget_what_is_deleted);
        }
        Ok(end)
    }

    async fn end(&mut self, answers: &[Answer; 2]) -> End {
        let tables = dump::tables(&mut self.side).await;
        (answers.each_ref().map(dump::answer), tables)
    }

    /// A lease that ends while its holder's call is under way: the fetch may pass it by, because it
    /// is being written to. Then the next fetch must find what the first one would have.
    async fn ask_again(&mut self, pair: &Pair, end: End) -> End {
        let missed = end.0[1]
            .first()
            .is_some_and(|line| line.starts_with("found=false"));
        if pair.calls[1].jump.is_zero() || !missed {
            return end;
        }
        let text = self.named(&pair.calls[1].text).await;
        let again = self.side.run(&format!("EXEC [$(schema)].{text};")).await;
        let [first, _] = end.0;
        let tables = dump::tables(&mut self.side).await;
        ([first, dump::answer(&again)], tables)
    }

    async fn named(&mut self, text: &str) -> String {
        if !text.contains("$(work)") {
            return text.to_owned();
        }
        let sets = self.side.run(HELD).await.expect("the item is looked up");
        let held: &str = sets[0][0].get("held").expect("an item is held");
        text.replace("$(work)", held)
    }
}

/// A turn is read after it is claimed. If its instance is deleted in between, there is nothing left to
/// read; no harm is done, because the turn's end will be refused.
fn forget_what_is_deleted(answer: &mut Vec<String>) {
    answer.retain(|line| !line.starts_with("event_id=") && !line.contains("last_event_id="));
    if let Some(at) = answer
        .first()
        .and_then(|line| line.find(" orchestration_name"))
    {
        answer[0].truncate(at);
    }
}

/// Losing is an answer; a deadlock, a duplicate key or a timeout is none.
fn check_error(answer: &Answer) -> Result<(), String> {
    match answer {
        Ok(_) | Err(51_003 | 51_004 | 51_007) => Ok(()),
        Err(number) => Err(format!("error {number}")),
    }
}

/// The orders in which the first goes `i` steps and the second `j` before the first ends, and the
/// same with the roles changed; one of them alone in between, or not. A sample, unless all are wanted:
/// one in `rarity` of the usual one.
fn orders(steps: [usize; 2], rarity: u64, dice: &mut Dice) -> Vec<Order> {
    let mut orders = Vec::new();
    for first in [0, 1] {
        let second = 1 - first;
        for i in 1..steps[first] {
            if setting::wanted().is_some() || dice.roll(3 * rarity) == 0 {
                orders.push(vec![(first, i), (second, usize::MAX)]);
            }
            for j in 1..steps[second] {
                if setting::wanted().is_some() || dice.roll(60 * rarity) == 0 {
                    orders.push(vec![(first, i), (second, j), (first, usize::MAX)]);
                }
            }
        }
    }
    orders
}

async fn interleave(setting: Setting) {
    let server = setting.start();
    let controls = server.controls();
    let schema = TestSchema::at(server.connection_string());
    schema.provider().await;
    let mut dice = Dice(setting.seed);
    let mut bench = Bench {
        actors: [
            Actor::new(&schema, &controls).await,
            Actor::new(&schema, &controls).await,
        ],
        side: Session::open(&schema).await,
        schema,
        controls,
    };
    // Gone before the schema, whose names it tells.
    let _witness = Witness::of(&server);
    let concerned =
        |pair: &Pair| mutants::concerns(&pair.calls.each_ref().map(|c| c.text.as_str()));
    for pair in pairs().into_iter().filter(concerned) {
        let began = Instant::now();
        let mut serial = Vec::new();
        let mut steps = [0, 0];
        for first in [0, 1] {
            let order = vec![(first, usize::MAX), (1 - first, usize::MAX)];
            let end = bench.run(&pair, &order).await;
            serial.push(end.unwrap_or_else(|why| panic!("{} in a row: {why}", pair.name)));
            for (most, actor) in steps.iter_mut().zip(&bench.actors) {
                *most = actor.steps.max(*most);
            }
        }
        // They take many steps, most of them alike.
        let is_long = pair.name.ends_with("in batches") || pair.name.starts_with("session release");
        let rarity = if is_long { 5 } else { 1 };
        let orders = orders(steps, rarity, &mut dice);
        for order in &orders {
            let end = bench.run(&pair, order).await;
            let end = end.unwrap_or_else(|why| {
                panic!("{setting:?}, {} in the order {order:?}: {why}", pair.name)
            });
            let end = if serial.contains(&end) {
                end
            } else {
                bench.ask_again(&pair, end).await
            };
            assert!(
                serial.contains(&end) || (pair.also)(&end),
                "{setting:?}, {} in the order {order:?} ends like neither serial order:\n{end:#?}\n{serial:#?}",
                pair.name
            );
        }
        println!(
            "{}: {steps:?} steps, {} orders, {:?}",
            pair.name,
            orders.len(),
            began.elapsed()
        );
    }
    drop(bench.actors);
    drop(bench.schema);
}

/// Every pair in many orders, each with an adversary: with snapshot reads off and on, optimized locking
/// off and on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pairs_end_as_if_one_had_run_after_the_other() {
    let settings = Setting::each(0..4, &[]).map(Setting::with_adversary);
    for setting in settings.take(4) {
        interleave(setting).await;
    }
}
