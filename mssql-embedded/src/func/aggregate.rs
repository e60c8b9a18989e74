//! Aggregate functions: their types and their accumulators.

use std::cmp::Ordering;

use crate::error::{SqlError, SqlResult};
use crate::memory::heap_bytes;
use crate::value::arith::{float_result, in_range};
use crate::value::compare::compare;
use crate::value::{Collation, DataType, Length, Value, decimal, errors, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// COUNT(*) and COUNT(x), INT.
    Count,
    /// COUNT_BIG(*) and COUNT_BIG(x), BIGINT.
    CountBig,
    Sum,
    Avg,
    Min,
    Max,
    /// STDEV, of a sample.
    Stdev,
    /// STDEVP, of the population.
    StdevP,
    /// VAR, of a sample.
    Var,
    /// VARP, of the population.
    VarP,
    /// STRING_AGG(x, separator).
    StringAgg,
}

impl Aggregate {
    /// Every aggregate with its upper-case name.
    pub const NAMES: &[(&str, Self)] = &[
        ("COUNT", Self::Count),
        ("COUNT_BIG", Self::CountBig),
        ("SUM", Self::Sum),
        ("AVG", Self::Avg),
        ("MIN", Self::Min),
        ("MAX", Self::Max),
        ("STDEV", Self::Stdev),
        ("STDEVP", Self::StdevP),
        ("VAR", Self::Var),
        ("VARP", Self::VarP),
        ("STRING_AGG", Self::StringAgg),
    ];

    /// The aggregate of this upper-case name.
    pub fn by_name(name: &str) -> Option<Self> {
        let mut all = Self::NAMES.iter();
        all.find_map(|(known, aggregate)| (*known == name).then_some(*aggregate))
    }

    /// The name in lower case, as messages show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::CountBig => "count_big",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::Stdev => "stdev",
            Self::StdevP => "stdevp",
            Self::Var => "var",
            Self::VarP => "varp",
            Self::StringAgg => "string_agg",
        }
    }

    /// Whether SQL Server warns (8153) when it passes over a NULL.
    pub fn warns_of_null(self) -> bool {
        match self {
            Self::StringAgg => false,
            Self::Count
            | Self::CountBig
            | Self::Sum
            | Self::Avg
            | Self::Min
            | Self::Max
            | Self::Stdev
            | Self::StdevP
            | Self::Var
            | Self::VarP => true,
        }
    }

    /// How many arguments it takes; COUNT(*) is the binder's exception.
    pub fn arity(self) -> usize {
        if self == Self::StringAgg { 2 } else { 1 }
    }

    /// The type the first argument is cast to.
    ///
    /// # Errors
    ///
    /// 8117 for a type the aggregate does not take.
    pub fn argument_type(self, ty: &DataType) -> SqlResult<DataType> {
        let refused = || Err(errors::invalid_operand(ty, self.name()));
        match self {
            Self::Count | Self::CountBig if *ty == DataType::Null => refused(),
            Self::Count | Self::CountBig => Ok(ty.clone()),
            Self::Min | Self::Max => {
                if let DataType::Bit | DataType::Null = ty {
                    refused()
                } else {
                    Ok(ty.clone())
                }
            }
            Self::StringAgg if ty.is_string() => Ok(ty.clone()),
            Self::StringAgg if ty.is_binary() => refused(),
            Self::StringAgg => Ok(DataType::nvarchar(4000, Collation::SqlLatin1CiAs)),
            _ if !ty.is_numeric() => refused(),
            Self::Sum | Self::Avg => Ok(match ty {
                DataType::TinyInt | DataType::SmallInt => DataType::Int,
                DataType::Real => DataType::Float,
                DataType::Null
                | DataType::Bit
                | DataType::Int
                | DataType::BigInt
                | DataType::Decimal { .. }
                | DataType::Float
                | DataType::Char(..)
                | DataType::VarChar(..)
                | DataType::NChar(..)
                | DataType::NVarChar(..)
                | DataType::Binary(_)
                | DataType::VarBinary(_)
                | DataType::UniqueIdentifier
                | DataType::Date
                | DataType::Time(_)
                | DataType::SmallDateTime
                | DataType::DateTime
                | DataType::DateTime2(_)
                | DataType::DateTimeOffset(_) => ty.clone(),
            }),
            Self::Stdev | Self::StdevP | Self::Var | Self::VarP => Ok(DataType::Float),
        }
    }

    /// The result type over an argument of type `ty`, as [`argument_type`](Self::argument_type)
    /// gave it; `ty` is ignored by the counts.
    pub fn result_type(self, ty: &DataType) -> DataType {
        match (self, ty) {
            (Self::Count, _) => DataType::Int,
            (Self::CountBig, _) => DataType::BigInt,
            (Self::Sum, DataType::Decimal { scale, .. }) => DataType::decimal(38, *scale),
            (Self::Avg, DataType::Decimal { scale, .. }) => DataType::decimal(38, 6.max(*scale)),
            (Self::Stdev | Self::StdevP | Self::Var | Self::VarP, _) => DataType::Float,
            (
                Self::StringAgg,
                DataType::NVarChar(Length::Max, _) | DataType::VarChar(Length::Max, _),
            ) => ty.clone(),
            (Self::StringAgg, _) => {
                let collation = ty.collation().unwrap_or(Collation::SqlLatin1CiAs);
                if ty.is_unicode() {
                    DataType::nvarchar(4000, collation)
                } else {
                    DataType::varchar(8000, collation)
                }
            }
            (Self::Sum | Self::Avg | Self::Min | Self::Max, _) => ty.clone(),
        }
    }
}

/// The running state of one aggregate over one group.
#[derive(Clone, Debug)]
pub struct Accumulator {
    function: Aggregate,
    arg: DataType,
    result: DataType,
    count: i64,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Counts need nothing more.
    Count,
    /// The exact sum of integers, or of decimals at the argument's scale.
    Exact(i128),
    /// The sum of floating-point numbers.
    Float(f64),
    /// The smallest or greatest so far.
    Extreme(Value),
    /// Mean and sum of squared distances from it, updated without cancellation.
    Spread {
        mean: f64,
        squares: f64,
    },
    Text(Vec<u16>),
}

impl Accumulator {
    /// An empty group. `arg` is the type of the first argument, `result` the result type.
    pub fn new(function: Aggregate, arg: &DataType, result: &DataType) -> Self {
        let state = match function {
            Aggregate::Count | Aggregate::CountBig => State::Count,
            Aggregate::Sum | Aggregate::Avg if arg.is_float() => State::Float(0.0),
            Aggregate::Sum | Aggregate::Avg => State::Exact(0),
            Aggregate::Min | Aggregate::Max => State::Extreme(Value::Null),
            Aggregate::StringAgg => State::Text(Vec::new()),
            Aggregate::Stdev | Aggregate::StdevP | Aggregate::Var | Aggregate::VarP => {
                State::Spread {
                    mean: 0.0,
                    squares: 0.0,
                }
            }
        };
        Self {
            function,
            arg: arg.clone(),
            result: result.clone(),
            count: 0,
            state,
        }
    }

    /// How many bytes more it holds once it has these arguments.
    pub fn kept_bytes(&self, args: &[Value]) -> usize {
        match &self.state {
            State::Text(_) => args.iter().map(heap_bytes).sum(),
            State::Count
            | State::Exact(_)
            | State::Float(_)
            | State::Extreme(_)
            | State::Spread { .. } => 0,
        }
    }

    /// Adds a row: the arguments, or nothing for COUNT(*). NULL does not count.
    ///
    /// # Errors
    ///
    /// 8115 when a sum overflows, 9829 when joined text is too long for its type.
    pub fn add(&mut self, args: &[Value]) -> SqlResult<()> {
        let Some(value) = args.first() else {
            self.count += 1;
            return Ok(());
        };
        if value.is_null() {
            return Ok(());
        }
        self.count += 1;
        match (&mut self.state, value) {
            (State::Exact(sum), Value::Int(n)) => *sum += i128::from(*n),
            (State::Exact(sum), Value::Decimal { units, .. }) => {
                *sum = sum
                    .checked_add(*units)
                    .ok_or_else(|| errors::overflow(&self.result))?;
            }
            (State::Float(sum), Value::Float(f)) => *sum += f,
            (State::Spread { mean, squares }, Value::Float(f)) => {
                let distance = f - *mean;
                *mean += distance / self.count as f64;
                *squares += distance * (f - *mean);
            }
            (State::Extreme(best), value) => {
                let wanted = if self.function == Aggregate::Min {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
                if best.is_null() || compare(value, best, &self.arg) == wanted {
                    *best = value.clone();
                }
            }
            (State::Text(joined), Value::Str(s)) => {
                if self.count > 1
                    && let Some(Value::Str(separator)) = args.get(1)
                {
                    joined.extend_from_slice(separator);
                }
                joined.extend_from_slice(s);
                if !self.result.is_max() && text::byte_len(joined, &self.result) > 8000 {
                    return Err(SqlError::new(
                        9829,
                        "STRING_AGG aggregation result exceeded the limit of 8000 bytes. Use LOB \
                         types to avoid result truncation.",
                    ));
                }
            }
            (State::Count, _) => {}
            (State::Exact(_) | State::Float(_) | State::Spread { .. } | State::Text(_), _) => {
                return Err(SqlError::internal(
                    "an aggregate of a value of another type",
                ));
            }
        }
        Ok(())
    }

    /// The result of the group.
    ///
    /// # Errors
    ///
    /// 8115 when the result does not fit its type.
    pub fn finish(self) -> SqlResult<Value> {
        if let State::Count = self.state {
            return if in_range(self.count, &self.result) {
                Ok(Value::Int(self.count))
            } else {
                Err(errors::overflow(&self.result))
            };
        }
        if self.count == 0 {
            return Ok(Value::Null);
        }
        let average = self.function == Aggregate::Avg;
        match self.state {
            State::Count => Ok(Value::Null),
            State::Exact(sum) => exact(sum, average.then_some(self.count), &self.arg, &self.result),
            State::Float(sum) => {
                let value = if average {
                    sum / self.count as f64
                } else {
                    sum
                };
                float_result(value, &self.result)
            }
            State::Extreme(value) => Ok(value),
            State::Spread { squares, .. } => spread(self.function, self.count, squares),
            State::Text(joined) => Ok(Value::Str(joined.into())),
        }
    }
}

fn exact(sum: i128, count: Option<i64>, arg: &DataType, result: &DataType) -> SqlResult<Value> {
    let overflow = || errors::overflow(result);
    let count = i128::from(count.unwrap_or(1));
    if let DataType::Decimal { precision, scale } = result {
        let shift = i32::from(*scale) - i32::from(arg.scale());
        let units = decimal::divide(sum, count, shift).filter(|u| decimal::fits(*u, *precision));
        return Ok(Value::Decimal {
            units: units.ok_or_else(overflow)?,
            scale: *scale,
        });
    }
    let n = i64::try_from(sum / count).map_err(|_| overflow())?;
    if in_range(n, result) {
        Ok(Value::Int(n))
    } else {
        Err(overflow())
    }
}

fn spread(function: Aggregate, count: i64, squares: f64) -> SqlResult<Value> {
    let population = matches!(function, Aggregate::StdevP | Aggregate::VarP);
    let divisor = if population { count } else { count - 1 };
    if divisor == 0 {
        return Ok(Value::Null);
    }
    let variance = squares / divisor as f64;
    let root = matches!(function, Aggregate::Stdev | Aggregate::StdevP);
    float_result(
        if root { variance.sqrt() } else { variance },
        &DataType::Float,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(function: Aggregate, ty: DataType, values: &[Value]) -> SqlResult<Value> {
        let arg = function.argument_type(&ty)?;
        let mut acc = Accumulator::new(function, &arg, &function.result_type(&arg));
        for value in values {
            acc.add(&[value.clone(), Value::text(", ")])?;
        }
        acc.finish()
    }

    #[test]
    fn sums_keep_their_type_and_overflow() {
        let max = Value::Int(i64::from(i32::MAX));
        let error = run(Aggregate::Sum, DataType::Int, &[max.clone(), max.clone()]).unwrap_err();
        assert_eq!(error.number, 8115);
        assert_eq!(
            run(Aggregate::Avg, DataType::Int, &[max.clone(), max.clone()]).unwrap(),
            max
        );
        assert_eq!(
            run(Aggregate::Sum, DataType::Int, &[Value::Null]).unwrap(),
            Value::Null
        );
        let ints = [1, 2].map(Value::Int);
        assert_eq!(
            run(Aggregate::Avg, DataType::Int, &ints).unwrap(),
            Value::Int(1)
        );
        assert_eq!(
            run(Aggregate::Count, DataType::Int, &[Value::Null]).unwrap(),
            Value::Int(0)
        );
    }

    #[test]
    fn decimal_averages_have_six_digits() {
        let values = [100, 201].map(|units| Value::Decimal { units, scale: 2 });
        let average = run(Aggregate::Avg, DataType::decimal(5, 2), &values).unwrap();
        assert_eq!(
            average,
            Value::Decimal {
                units: 1_505_000,
                scale: 6
            }
        );
    }

    #[test]
    fn text_is_joined_and_bit_is_refused() {
        let ty = DataType::varchar(10, Collation::SqlLatin1CiAs);
        let values = [Value::text("a"), Value::Null, Value::text("b")];
        assert_eq!(
            run(Aggregate::StringAgg, ty.clone(), &values).unwrap(),
            Value::text("a, b")
        );
        assert_eq!(
            run(Aggregate::Sum, DataType::Bit, &[]).unwrap_err().number,
            8117
        );
        assert_eq!(run(Aggregate::Max, ty, &values).unwrap(), Value::text("b"));
        let spread = run(
            Aggregate::Var,
            DataType::Float,
            &[1.0, 3.0].map(Value::Float),
        )
        .unwrap();
        assert_eq!(spread, Value::Float(2.0));
    }
}
