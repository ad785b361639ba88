//! Numbers: any JSON literal to the one that ECMAScript would print.

use crate::Numbers;
use crate::error::{Fault, Refusal};
use crate::scan::Literal;

/// An integer of this many digits is exact in a double and prints as itself.
const PLAIN_DIGITS: usize = 15;

/// Writes the canonical form of `literal` to `out`. Clauses: ALX-CANON-NUMBERS, AGENTIC-R-033.
#[inline]
pub(crate) fn write_number(
    literal: &Literal<'_>,
    numbers: Numbers,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    // The fast path: most numbers are short integers, and they need no conversion to a double.
    if literal.integer && literal.text.len() <= PLAIN_DIGITS {
        // ECMAScript prints negative zero as 0.
        let text = if literal.text == "-0" { "0" } else { literal.text };
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    write_double(literal, numbers, out)
}

/// Clauses: ALX-CANON-NON-FINITE, ALX-CANON-INEXACT, AGENTIC-R-041.
fn write_double(literal: &Literal<'_>, numbers: Numbers, out: &mut Vec<u8>) -> Result<(), Fault> {
    let value: f64 =
        literal.text.parse().expect("the grammar of JSON numbers lies within that of Rust");
    if !value.is_finite() {
        return Err(Fault {
            refusal: Refusal::NonFinite,
            offset: literal.offset,
            detail: "the number is too large for a double",
        });
    }
    let mut buffer = ryu_js::Buffer::new();
    let printed = buffer.format_finite(value);
    // RFC 8785 rounds every fraction, but an integer would become another one without notice.
    if literal.integer
        && numbers == Numbers::Exact
        && Decimal::of(literal.text) != Decimal::of(printed)
    {
        return Err(Fault {
            refusal: Refusal::InexactInteger,
            offset: literal.offset,
            detail: "the integer has more digits than a double holds; write it as a string",
        });
    }
    out.extend_from_slice(printed.as_bytes());
    Ok(())
}

/// A decimal literal as digits and a power of ten, to compare what is written with what is printed.
#[derive(Debug)]
struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// The power of ten of the last significant digit.
    exponent: i64,
}

impl<'a> Decimal<'a> {
    fn of(text: &'a str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        // Only the printed text can have an exponent: an integer literal has none.
        let (mantissa, exponent) = match text.split_once('e') {
            Some((mantissa, exponent)) => {
                (mantissa, exponent.parse::<i64>().expect("the printer writes short exponents"))
            }
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut decimal = Self {
            negative,
            whole: whole.as_bytes(),
            fraction: fraction.as_bytes(),
            exponent: exponent - fraction.len() as i64,
        };
        decimal.drop_trailing_zeros();
        decimal
    }

    fn drop_trailing_zeros(&mut self) {
        while let [rest @ .., b'0'] = self.fraction {
            self.fraction = rest;
            self.exponent += 1;
        }
        if self.fraction.is_empty() {
            while let [rest @ .., b'0'] = self.whole {
                self.whole = rest;
                self.exponent += 1;
            }
        }
    }

    fn digits(&self) -> impl Iterator<Item = &'a u8> {
        self.whole.iter().chain(self.fraction)
    }
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.negative == other.negative
            && self.exponent == other.exponent
            && self.digits().eq(other.digits())
    }
}
