//! Workloads that the benchmarks share, so that every figure speaks of the same worlds and logs. Not a benchmark itself.

pub mod office;
pub mod services;
pub mod toy;
