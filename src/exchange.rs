//! One command and its answer on one connection, within limits.

use futures_util::TryStreamExt as _;
use tiberius::{Client, Command, CommandItem, CommandStream, Row};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_util::compat::Compat;

use crate::answer::ResultSets;
use crate::observe::quiet;

/// An answer that was read to its end.
pub(crate) struct Answered {
    /// When the server began to answer.
    began_at: Instant,
    sets: Vec<Vec<Row>>,
}

impl Answered {
    /// As what `procedure` answered to a request of that moment.
    pub(crate) fn to(self, procedure: &'static str, asked_at: Instant) -> ResultSets {
        let waited = self.began_at.duration_since(asked_at);
        ResultSets::new(procedure, asked_at, waited, self.sets)
    }
}

/// Sends a command and reads its answer; `None` when the first sign of an answer does not come
/// by `first_by`, unless `read_on` then says to wait for it, or its end not by `ends_at`.
pub(crate) async fn ask(
    command: Command<'_>,
    client: &mut Client<Compat<TcpStream>>,
    first_by: Instant,
    ends_at: Instant,
    read_on: impl FnOnce() -> bool,
) -> Option<Result<Answered, tiberius::error::Error>> {
    let mut begun = std::pin::pin!(quiet(async {
        let mut stream = command.exec(client).await?;
        let first = stream.try_next().await?;
        Ok((stream, first))
    }));
    let begun = match timeout_at(first_by, begun.as_mut()).await {
        Ok(begun) => begun,
        Err(_) if read_on() => timeout_at(ends_at, begun).await.ok()?,
        Err(_) => return None,
    };
    match begun {
        Ok((stream, first)) => {
            let began_at = Instant::now();
            let rest = quiet(collect(stream, first));
            let collected = timeout_at(ends_at, rest).await.ok()?;
            Some(collected.map(|sets| Answered { began_at, sets }))
        }
        Err(error) => Some(Err(error)),
    }
}

/// Reads an answer to its end, which is what makes an error after a result set visible.
async fn collect(
    mut stream: CommandStream<'_>,
    first: Option<CommandItem>,
) -> Result<Vec<Vec<Row>>, tiberius::error::Error> {
    let mut sets: Vec<Vec<Row>> = Vec::new();
    let mut next = first;
    while let Some(item) = next {
        match item {
            CommandItem::Metadata(_) => sets.push(Vec::new()),
            CommandItem::Row(row) => match sets.last_mut() {
                Some(set) => set.push(row),
                None => sets.push(vec![row]),
            },
            CommandItem::ReturnStatus(_)
            | CommandItem::ReturnValue(_)
            | CommandItem::RowsAffected(_) => {}
        }
        next = stream.try_next().await?;
    }
    Ok(sets)
}
