//! Angles, hyperbolic functions, and the gamma and error functions. All through `libm`, so that every machine computes the same bits.

use super::{Function, each, number, number_or};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::value::{Res, finite};

pub(super) const FUNCTIONS: &[Function] = &[
    each("SIN", 1, 1, |_, a| finite(libm::sin(number(a, 0)?))),
    each("COS", 1, 1, |_, a| finite(libm::cos(number(a, 0)?))),
    each("TAN", 1, 1, |_, a| finite(libm::tan(number(a, 0)?))),
    each("ASIN", 1, 1, |_, a| finite(libm::asin(number(a, 0)?))),
    each("ACOS", 1, 1, |_, a| finite(libm::acos(number(a, 0)?))),
    each("ATAN", 1, 1, |_, a| finite(libm::atan(number(a, 0)?))),
    each("ATAN2", 2, 2, |_, a| {
        let (x, y) = (number(a, 0)?, number(a, 1)?);
        if x == 0.0 && y == 0.0 { Err(CellError::Division.into()) } else { finite(libm::atan2(y, x)) }
    }),
    each("SINH", 1, 1, |_, a| finite(libm::sinh(number(a, 0)?))),
    each("COSH", 1, 1, |_, a| finite(libm::cosh(number(a, 0)?))),
    each("TANH", 1, 1, |_, a| finite(libm::tanh(number(a, 0)?))),
    each("ASINH", 1, 1, |_, a| finite(libm::asinh(number(a, 0)?))),
    each("ACOSH", 1, 1, |_, a| finite(libm::acosh(number(a, 0)?))),
    each("ATANH", 1, 1, |_, a| finite(libm::atanh(number(a, 0)?))),
    each("SEC", 1, 1, |_, a| finite(1.0 / libm::cos(number(a, 0)?))),
    each("SECH", 1, 1, |_, a| finite(1.0 / libm::cosh(number(a, 0)?))),
    each("CSC", 1, 1, |_, a| inverse(libm::sin(number(a, 0)?))),
    each("CSCH", 1, 1, |_, a| inverse(libm::sinh(number(a, 0)?))),
    each("COT", 1, 1, |_, a| inverse(libm::tan(number(a, 0)?))),
    each("COTH", 1, 1, |_, a| inverse(libm::tanh(number(a, 0)?))),
    each("ACOT", 1, 1, |_, a| finite(std::f64::consts::FRAC_PI_2 - libm::atan(number(a, 0)?))),
    each("ACOTH", 1, 1, |_, a| {
        let number = number(a, 0)?;
        finite(0.5 * libm::log((number + 1.0) / (number - 1.0)))
    }),
    each("DEGREES", 1, 1, |_, a| finite(number(a, 0)?.to_degrees())),
    each("RADIANS", 1, 1, |_, a| finite(number(a, 0)?.to_radians())),
    each("ERF", 1, 2, |_, a| {
        let first = libm::erf(number(a, 0)?);
        if a.len() > 1 { finite(libm::erf(number_or(a, 1, 0.0)?) - first) } else { finite(first) }
    }),
    each("ERF.PRECISE", 1, 1, |_, a| finite(libm::erf(number(a, 0)?))),
    each("ERFC", 1, 1, |_, a| finite(libm::erfc(number(a, 0)?))),
    each("ERFC.PRECISE", 1, 1, |_, a| finite(libm::erfc(number(a, 0)?))),
    each("GAMMA", 1, 1, |_, a| {
        let number = number(a, 0)?;
        if number <= 0.0 && number.fract() == 0.0 {
            Err(CellError::Number.into())
        } else {
            finite(libm::tgamma(number))
        }
    }),
    each("GAMMALN", 1, 1, |_, a| log_gamma(number(a, 0)?)),
    each("GAMMALN.PRECISE", 1, 1, |_, a| log_gamma(number(a, 0)?)),
    each("FISHER", 1, 1, |_, a| finite(libm::atanh(number(a, 0)?))),
    each("FISHERINV", 1, 1, |_, a| finite(libm::tanh(number(a, 0)?))),
];

fn inverse(number: f64) -> Res<CellValue> {
    if number == 0.0 { Err(CellError::Division.into()) } else { finite(1.0 / number) }
}

fn log_gamma(number: f64) -> Res<CellValue> {
    if number <= 0.0 { Err(CellError::Number.into()) } else { finite(libm::lgamma(number)) }
}
