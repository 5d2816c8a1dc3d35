//! Distributions: normal, binomial, Poisson, exponential, Student's t, chi-squared and F, and their inverses.

use std::f64::consts::{PI, SQRT_2};

use super::{Function, each, number, number_or, truth_or};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::value::{Res, finite};

pub(super) const FUNCTIONS: &[Function] = &[
    each("NORM.DIST", 4, 4, normal),
    each("NORMDIST", 4, 4, normal),
    each("NORM.S.DIST", 2, 2, |_, a| finite(standard(number(a, 0)?, truth_or(a, 1, true)?))),
    each("NORMSDIST", 1, 1, |_, a| finite(standard(number(a, 0)?, true))),
    each("NORM.INV", 3, 3, normal_inverse),
    each("NORMINV", 3, 3, normal_inverse),
    each("NORM.S.INV", 1, 1, |_, a| finite(standard_inverse(number(a, 0)?)?)),
    each("NORMSINV", 1, 1, |_, a| finite(standard_inverse(number(a, 0)?)?)),
    each("PHI", 1, 1, |_, a| finite(standard(number(a, 0)?, false))),
    each("GAUSS", 1, 1, |_, a| finite(standard(number(a, 0)?, true) - 0.5)),
    each("STANDARDIZE", 3, 3, |_, a| {
        let deviation = number(a, 2)?;
        if deviation <= 0.0 {
            Err(CellError::Number.into())
        } else {
            finite((number(a, 0)? - number(a, 1)?) / deviation)
        }
    }),
    each("CONFIDENCE", 3, 3, confidence),
    each("CONFIDENCE.NORM", 3, 3, confidence),
    each("CONFIDENCE.T", 3, 3, |_, a| {
        let (alpha, deviation, size) = (number(a, 0)?, number(a, 1)?, number(a, 2)?.trunc());
        if size < 2.0 {
            return Err(CellError::Division.into());
        }
        finite(student_inverse(1.0 - alpha / 2.0, size - 1.0)? * deviation / size.sqrt())
    }),
    each("BINOM.DIST", 4, 4, binomial),
    each("BINOMDIST", 4, 4, binomial),
    each("POISSON.DIST", 3, 3, poisson),
    each("POISSON", 3, 3, poisson),
    each("EXPON.DIST", 3, 3, exponential),
    each("EXPONDIST", 3, 3, exponential),
    each("T.DIST", 3, 3, |_, a| {
        let (x, freedom) = (number(a, 0)?, freedom(number(a, 1)?)?);
        if truth_or(a, 2, true)? {
            return finite(student(x, freedom));
        }
        let log =
            libm::lgamma(f64::midpoint(freedom, 1.0)) - libm::lgamma(freedom / 2.0) - 0.5 * libm::log(freedom * PI);
        finite(libm::exp(log - (freedom + 1.0) / 2.0 * libm::log1p(x * x / freedom)))
    }),
    each("T.DIST.RT", 2, 2, |_, a| finite(student(-number(a, 0)?, freedom(number(a, 1)?)?))),
    each("T.DIST.2T", 2, 2, |_, a| {
        let x = number(a, 0)?;
        if x < 0.0 { Err(CellError::Number.into()) } else { finite(2.0 * student(-x, freedom(number(a, 1)?)?)) }
    }),
    each("TDIST", 3, 3, |_, a| {
        let (x, tails) = (number(a, 0)?, number(a, 2)?);
        if x < 0.0 || (tails != 1.0 && tails != 2.0) {
            return Err(CellError::Number.into());
        }
        finite(tails * student(-x, freedom(number(a, 1)?)?))
    }),
    each("T.INV", 2, 2, |_, a| finite(student_inverse(number(a, 0)?, freedom(number(a, 1)?)?)?)),
    each("T.INV.2T", 2, 2, |_, a| finite(student_inverse(1.0 - number(a, 0)? / 2.0, freedom(number(a, 1)?)?)?)),
    each("TINV", 2, 2, |_, a| finite(student_inverse(1.0 - number(a, 0)? / 2.0, freedom(number(a, 1)?)?)?)),
    each("CHISQ.DIST", 3, 3, |_, a| {
        let (x, freedom) = (number(a, 0)?, freedom(number(a, 1)?)?);
        if x < 0.0 {
            return Err(CellError::Number.into());
        }
        if truth_or(a, 2, true)? {
            return finite(gamma_part(freedom / 2.0, x / 2.0));
        }
        let half = freedom / 2.0;
        finite(libm::exp((half - 1.0) * libm::log(x) - x / 2.0 - half * libm::log(2.0) - libm::lgamma(half)))
    }),
    each("CHISQ.DIST.RT", 2, 2, |_, a| {
        finite(1.0 - gamma_part(freedom(number(a, 1)?)? / 2.0, number(a, 0)?.max(0.0) / 2.0))
    }),
    each("CHIDIST", 2, 2, |_, a| finite(1.0 - gamma_part(freedom(number(a, 1)?)? / 2.0, number(a, 0)?.max(0.0) / 2.0))),
    each("CHISQ.INV", 2, 2, |_, a| finite(chi_inverse(number(a, 0)?, freedom(number(a, 1)?)?)?)),
    each("CHISQ.INV.RT", 2, 2, |_, a| finite(chi_inverse(1.0 - number(a, 0)?, freedom(number(a, 1)?)?)?)),
    each("CHIINV", 2, 2, |_, a| finite(chi_inverse(1.0 - number(a, 0)?, freedom(number(a, 1)?)?)?)),
    each("F.DIST.RT", 3, 3, |_, a| {
        finite(1.0 - fisher(number(a, 0)?, freedom(number(a, 1)?)?, freedom(number(a, 2)?)?))
    }),
    each("FDIST", 3, 3, |_, a| finite(1.0 - fisher(number(a, 0)?, freedom(number(a, 1)?)?, freedom(number(a, 2)?)?))),
    each("F.INV.RT", 3, 3, |_, a| {
        let (one, other) = (freedom(number(a, 1)?)?, freedom(number(a, 2)?)?);
        finite(inverse(1.0 - number(a, 0)?, 0.0, 1e6, |x| fisher(x, one, other))?)
    }),
    each("BETA.DIST", 4, 6, |_, a| {
        let (low, high) = (number_or(a, 4, 0.0)?, number_or(a, 5, 1.0)?);
        let (x, one, other) = ((number(a, 0)? - low) / (high - low), number(a, 1)?, number(a, 2)?);
        if !(0.0..=1.0).contains(&x) || one <= 0.0 || other <= 0.0 {
            return Err(CellError::Number.into());
        }
        if truth_or(a, 3, true)? {
            return finite(beta_part(x, one, other));
        }
        let log = (one - 1.0) * libm::log(x) + (other - 1.0) * libm::log1p(-x) - log_beta(one, other);
        finite(libm::exp(log) / (high - low))
    }),
    each("GAMMA.DIST", 4, 4, |_, a| {
        let (x, shape, scale) = (number(a, 0)?, number(a, 1)?, number(a, 2)?);
        if x < 0.0 || shape <= 0.0 || scale <= 0.0 {
            return Err(CellError::Number.into());
        }
        if truth_or(a, 3, true)? {
            return finite(gamma_part(shape, x / scale));
        }
        finite(libm::exp((shape - 1.0) * libm::log(x / scale) - x / scale - libm::lgamma(shape)) / scale)
    }),
];

/// How many terms of a series or fraction are added up at most.
const TERMS_MAX: u32 = 500;
/// How many halvings an inverse takes.
const HALVINGS: u32 = 200;

fn standard(x: f64, is_cumulative: bool) -> f64 {
    if is_cumulative { 0.5 * libm::erfc(-x / SQRT_2) } else { libm::exp(-x * x / 2.0) / (2.0 * PI).sqrt() }
}

fn normal(_: &super::Evaluator<'_>, a: &[CellValue]) -> Res<CellValue> {
    let (mean, deviation) = (number(a, 1)?, number(a, 2)?);
    if deviation <= 0.0 {
        return Err(CellError::Number.into());
    }
    let x = (number(a, 0)? - mean) / deviation;
    let is_cumulative = truth_or(a, 3, true)?;
    finite(standard(x, is_cumulative) / if is_cumulative { 1.0 } else { deviation })
}

fn normal_inverse(_: &super::Evaluator<'_>, a: &[CellValue]) -> Res<CellValue> {
    let deviation = number(a, 2)?;
    if deviation <= 0.0 {
        return Err(CellError::Number.into());
    }
    finite(number(a, 1)? + deviation * standard_inverse(number(a, 0)?)?)
}

fn standard_inverse(part: f64) -> Res<f64> {
    inverse(part, -40.0, 40.0, |x| standard(x, true))
}

/// Returns where a rising function reaches `part`, which lies between 0 and 1.
fn inverse(part: f64, low: f64, high: f64, rising: impl Fn(f64) -> f64) -> Res<f64> {
    if !(part > 0.0 && part < 1.0) {
        return Err(CellError::Number.into());
    }
    let (mut low, mut high) = (low, high);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if rising(middle) < part { low = middle } else { high = middle }
    }
    Ok(f64::midpoint(low, high))
}

fn confidence(_: &super::Evaluator<'_>, a: &[CellValue]) -> Res<CellValue> {
    let (alpha, deviation, size) = (number(a, 0)?, number(a, 1)?, number(a, 2)?.trunc());
    if deviation <= 0.0 || size < 1.0 {
        return Err(CellError::Number.into());
    }
    finite(standard_inverse(1.0 - alpha / 2.0)? * deviation / size.sqrt())
}

fn freedom(number: f64) -> Res<f64> {
    let number = number.trunc();
    if (1.0..=1e10).contains(&number) { Ok(number) } else { Err(CellError::Number.into()) }
}

fn binomial(_: &super::Evaluator<'_>, a: &[CellValue]) -> Res<CellValue> {
    let (hits, tries, chance) = (number(a, 0)?.trunc(), number(a, 1)?.trunc(), number(a, 2)?);
    if hits < 0.0 || hits > tries || !(0.0..=1.0).contains(&chance) {
        return Err(CellError::Number.into());
    }
    if truth_or(a, 3, true)? {
        return finite(if hits == tries { 1.0 } else { beta_part(1.0 - chance, tries - hits, hits + 1.0) });
    }
    if chance == 0.0 || chance == 1.0 {
        return finite(f64::from(u8::from(hits == tries * chance)));
    }
    let ways = libm::lgamma(tries + 1.0) - libm::lgamma(hits + 1.0) - libm::lgamma(tries - hits + 1.0);
    finite(libm::exp(ways + hits * libm::log(chance) + (tries - hits) * libm::log1p(-chance)))
}

fn poisson(_: &super::Evaluator<'_>, a: &[CellValue]) -> Res<CellValue> {
    let (hits, mean) = (number(a, 0)?.trunc(), number(a, 1)?);
    if hits < 0.0 || mean < 0.0 {
        return Err(CellError::Number.into());
    }
    if truth_or(a, 2, true)? {
        return finite(1.0 - gamma_part(hits + 1.0, mean));
    }
    finite(libm::exp(hits * libm::log(mean) - mean - libm::lgamma(hits + 1.0)))
}

fn exponential(_: &super::Evaluator<'_>, a: &[CellValue]) -> Res<CellValue> {
    let (x, rate) = (number(a, 0)?, number(a, 1)?);
    if x < 0.0 || rate <= 0.0 {
        return Err(CellError::Number.into());
    }
    finite(if truth_or(a, 2, true)? { -libm::expm1(-rate * x) } else { rate * libm::exp(-rate * x) })
}

fn student(x: f64, freedom: f64) -> f64 {
    let tail = 0.5 * beta_part(freedom / (freedom + x * x), freedom / 2.0, 0.5);
    if x > 0.0 { 1.0 - tail } else { tail }
}

fn student_inverse(part: f64, freedom: f64) -> Res<f64> {
    inverse(part, -1e6, 1e6, |x| student(x, freedom))
}

fn chi_inverse(part: f64, freedom: f64) -> Res<f64> {
    inverse(part, 0.0, freedom * 10.0 + 1_000.0, |x| gamma_part(freedom / 2.0, x / 2.0))
}

fn fisher(x: f64, one: f64, other: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { beta_part(one * x / (one * x + other), one / 2.0, other / 2.0) }
}

fn log_beta(one: f64, other: f64) -> f64 {
    libm::lgamma(one) + libm::lgamma(other) - libm::lgamma(one + other)
}

/// The regularised incomplete gamma function (DLMF 8.11.4 below the turning point, 8.9.2 above).
fn gamma_part(shape: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let front = libm::exp(shape * libm::log(x) - x - libm::lgamma(shape));
    if x < shape + 1.0 {
        let (mut term, mut sum) = (1.0 / shape, 1.0 / shape);
        for step in 1..TERMS_MAX {
            term *= x / (shape + f64::from(step));
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return front * sum;
    }
    let mut b = x + 1.0 - shape;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for step in 1..TERMS_MAX {
        let n = f64::from(step);
        let a = -n * (n - shape);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    1.0 - front * fraction
}

/// The regularised incomplete beta function (DLMF 8.17.22, by Lentz's method).
fn beta_part(x: f64, one: f64, other: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return f64::from(u8::from(x >= 1.0));
    }
    if x > (one + 1.0) / (one + other + 2.0) {
        return 1.0 - beta_part(1.0 - x, other, one);
    }
    let front = libm::exp(one * libm::log(x) + other * libm::log1p(-x) - log_beta(one, other)) / one;
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (one + other) * x / (one + 1.0)));
    let mut fraction = d;
    for step in 1..TERMS_MAX {
        let m = f64::from(step);
        let even = m * (other - m) * x / ((one + 2.0 * m - 1.0) * (one + 2.0 * m));
        d = 1.0 / (1.0 + even * d);
        c = 1.0 + even / c;
        fraction *= c * d;
        let odd = -(one + m) * (one + other + m) * x / ((one + 2.0 * m) * (one + 2.0 * m + 1.0));
        d = 1.0 / (1.0 + odd * d);
        c = 1.0 + odd / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    front * fraction
}
