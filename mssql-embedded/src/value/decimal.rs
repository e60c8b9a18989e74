//! Exact decimal numbers: a 38-digit integer and a scale.

use std::cmp::Ordering;

/// The most digits a DECIMAL has.
pub const MAX_PRECISION: u8 = 38;

/// Ten to the power of `n`, for `n` up to 38.
pub fn pow10(n: u8) -> i128 {
    10_i128.pow(u32::from(n.min(MAX_PRECISION)))
}

/// Whether a number has at most `precision` digits.
pub fn fits(units: i128, precision: u8) -> bool {
    units.unsigned_abs() < pow10(precision).unsigned_abs()
}

/// The same number at another scale, rounded half away from zero; `None` when it needs more than
/// 38 digits.
pub fn rescale(units: i128, from: u8, to: u8) -> Option<i128> {
    let scaled = match to.cmp(&from) {
        Ordering::Equal => units,
        Ordering::Greater => units.checked_mul(pow10(to - from))?,
        Ordering::Less => divide_rounded(units, pow10(from - to)),
    };
    fits(scaled, MAX_PRECISION).then_some(scaled)
}

/// The same number at a smaller or equal scale, digits cut off.
pub fn truncate(units: i128, from: u8, to: u8) -> i128 {
    if to < from {
        units / pow10(from - to)
    } else {
        units
    }
}

/// Division rounded half away from zero; `by` is positive.
pub fn divide_rounded(units: i128, by: i128) -> i128 {
    let (quotient, rest) = (units / by, units % by);
    if rest.unsigned_abs() >= by.unsigned_abs().div_ceil(2) && rest != 0 {
        quotient + units.signum()
    } else {
        quotient
    }
}

/// The order of two numbers of any scales.
pub fn compare(a: i128, a_scale: u8, b: i128, b_scale: u8) -> Ordering {
    if a_scale == b_scale {
        return a.cmp(&b);
    }
    let scale = a_scale.max(b_scale);
    match (
        a.checked_mul(pow10(scale - a_scale)),
        b.checked_mul(pow10(scale - b_scale)),
    ) {
        (Some(a), Some(b)) => a.cmp(&b),
        // Only the side that overflowed can be the larger in magnitude.
        (None, _) => a.cmp(&0),
        (_, None) => 0.cmp(&b),
    }
}

/// Digits with the point in place; a number below one has a leading zero.
pub fn format(units: i128, scale: u8) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let digits = units.unsigned_abs().to_string();
    let scale = usize::from(scale);
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// Why text is not a DECIMAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseDecimalError {
    /// It is not a plain decimal number.
    Syntax,
    /// It has more than 38 digits at the wanted scale.
    Overflow,
}

/// Reads `[+-]digits[.digits]`, rounding half away from zero at `scale`.
pub fn parse(text: &str, scale: u8) -> Result<i128, ParseDecimalError> {
    let text = text.trim();
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return Err(ParseDecimalError::Syntax);
    }
    let kept = fraction.len().min(usize::from(scale));
    let mut units: i128 = 0;
    let padding = usize::from(scale) - kept;
    let digits = whole.bytes().chain(fraction.bytes().take(kept));
    for digit in digits.chain(std::iter::repeat_n(b'0', padding)) {
        if !fits(units, MAX_PRECISION - 1) {
            return Err(ParseDecimalError::Overflow);
        }
        units = units * 10 + i128::from(digit - b'0');
    }
    if fraction.as_bytes().get(kept).is_some_and(|d| *d >= b'5') {
        units += 1;
    }
    if !fits(units, MAX_PRECISION) {
        return Err(ParseDecimalError::Overflow);
    }
    Ok(if negative { -units } else { units })
}

/// The nearest floating-point number.
pub fn to_f64(units: i128, scale: u8) -> f64 {
    if units.unsigned_abs() < (1 << 53) && scale <= 22 {
        return units as f64 / 10_f64.powi(i32::from(scale));
    }
    format(units, scale).parse().unwrap_or(0.0)
}

/// The decimal of `scale` nearest to a floating-point number, or `None` beyond 38 digits.
pub fn from_f64(value: f64, scale: u8) -> Option<i128> {
    if !value.is_finite() || value.abs() >= 1e38 {
        return None;
    }
    // SQL Server keeps 17 significant digits of a float.
    let text = format!("{value:.16e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let negative = mantissa.starts_with('-');
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let units: i128 = digits.parse().ok()?;
    let shift = exponent - 16 + i32::from(scale);
    let units = if shift >= 0 {
        units.checked_mul(10_i128.checked_pow(shift.unsigned_abs())?)?
    } else if shift < -38 {
        0
    } else {
        divide_rounded(units, pow10(shift.unsigned_abs() as u8))
    };
    fits(units, MAX_PRECISION).then_some(if negative { -units } else { units })
}

/// `a * b`, whose scale is the sum of the scales, reduced by `drop` digits with rounding.
pub fn multiply(a: i128, b: i128, drop: u8) -> Option<i128> {
    let negative = (a < 0) != (b < 0);
    let mut wide = Wide::product(a.unsigned_abs(), b.unsigned_abs());
    if drop > 0 {
        let (mut quotient, mut rest_at_least_half) = (wide, false);
        for step in 0..drop {
            let (q, digit) = quotient.div_small(10);
            quotient = q;
            if step + 1 == drop {
                rest_at_least_half = digit >= 5;
            }
        }
        wide = quotient;
        if rest_at_least_half {
            wide = wide.add_small(1);
        }
    }
    wide.signed(negative)
}

/// `a / b` where the quotient is `a * 10^shift / b`, cut off; `b` is not zero.
pub fn divide(a: i128, b: i128, shift: i32) -> Option<i128> {
    let negative = (a < 0) != (b < 0);
    let mut wide = Wide {
        hi: 0,
        lo: a.unsigned_abs(),
    };
    for _ in 0..shift.max(0) {
        wide = wide.mul_small(10)?;
    }
    let mut quotient = wide.divide(b.unsigned_abs());
    for _ in shift..0 {
        quotient = quotient.div_small(10).0;
    }
    quotient.signed(negative)
}

/// An unsigned 256-bit number, for the intermediate results of multiplication and division.
#[derive(Clone, Copy)]
struct Wide {
    hi: u128,
    lo: u128,
}

impl Wide {
    fn product(a: u128, b: u128) -> Self {
        const MASK: u128 = u64::MAX as u128;
        let (a1, a0, b1, b0) = (a >> 64, a & MASK, b >> 64, b & MASK);
        let low = a0 * b0;
        let middle = a1 * b0 + (low >> 64);
        let middle2 = a0 * b1 + (middle & MASK);
        Self {
            hi: a1 * b1 + (middle >> 64) + (middle2 >> 64),
            lo: (middle2 << 64) | (low & MASK),
        }
    }

    fn add_small(self, n: u128) -> Self {
        let (lo, carry) = self.lo.overflowing_add(n);
        Self {
            hi: self.hi + u128::from(carry),
            lo,
        }
    }

    fn mul_small(self, n: u64) -> Option<Self> {
        let low = Self::product(self.lo, u128::from(n));
        let hi = self.hi.checked_mul(u128::from(n))?.checked_add(low.hi)?;
        Some(Self { hi, lo: low.lo })
    }

    fn div_small(self, n: u64) -> (Self, u64) {
        let n = u128::from(n);
        let hi = self.hi / n;
        let mut rest = self.hi % n;
        let mut lo = 0;
        for shift in [64, 0] {
            let part = (rest << 64) | ((self.lo >> shift) & u128::from(u64::MAX));
            lo |= (part / n) << shift;
            rest = part % n;
        }
        (Self { hi, lo }, rest as u64)
    }

    /// Long division bit by bit; `by` is below 2^127, so the remainder never overflows.
    fn divide(self, by: u128) -> Self {
        let mut quotient = Self { hi: 0, lo: 0 };
        let mut rest: u128 = 0;
        for bit in (0..256_u32).rev() {
            let word = if bit >= 128 { self.hi } else { self.lo };
            rest = (rest << 1) | ((word >> (bit % 128)) & 1);
            if rest >= by {
                rest -= by;
                if bit >= 128 {
                    quotient.hi |= 1 << (bit - 128);
                } else {
                    quotient.lo |= 1 << bit;
                }
            }
        }
        quotient
    }

    fn signed(self, negative: bool) -> Option<i128> {
        let units = i128::try_from(self.lo).ok().filter(|_| self.hi == 0)?;
        fits(units, MAX_PRECISION).then_some(if negative { -units } else { units })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing_rounds_at_the_scale_and_refuses_exponents() {
        assert_eq!(parse(" -1.2345 ", 2), Ok(-123));
        assert_eq!(parse("1.235", 2), Ok(124));
        assert_eq!(parse(".5", 0), Ok(1));
        assert_eq!(parse("1e3", 2), Err(ParseDecimalError::Syntax));
        assert_eq!(parse(".", 2), Err(ParseDecimalError::Syntax));
        assert_eq!(parse(&"9".repeat(39), 0), Err(ParseDecimalError::Overflow));
    }

    #[test]
    fn text_has_a_leading_zero_and_all_digits() {
        assert_eq!(format(-5, 2), "-0.05");
        assert_eq!(format(12345, 2), "123.45");
        assert_eq!(format(7, 0), "7");
    }

    #[test]
    fn wide_products_and_quotients_are_exact() {
        let big = pow10(37) + 7;
        assert_eq!(multiply(big, 10, 1), Some(big));
        assert_eq!(multiply(big, big, 37), Some(big + 7));
        assert_eq!(multiply(big, 100, 0), None);
        assert_eq!(divide(2, 3, 6), Some(666_666));
        assert_eq!(divide(-1, 3, 20), Some(-33_333_333_333_333_333_333));
        assert_eq!(divide(pow10(37), pow10(36), 10), Some(100_000_000_000));
    }

    #[test]
    fn floats_become_the_nearest_decimal() {
        assert_eq!(from_f64(1.005, 2), Some(100));
        assert_eq!(from_f64(-2.5, 0), Some(-3));
        assert_eq!(from_f64(1e39, 0), None);
        assert!((to_f64(123_456, 3) - 123.456).abs() < 1e-12);
    }
}
