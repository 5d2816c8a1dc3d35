//! The Python door: classes over what `dayshift-runs` offers to every door. Conversions, locks and errors; no decision of its own.

mod check;
mod convert;
mod env;
mod episode;
mod error;
mod key;
mod live;
mod log;
mod report;
mod scenario;
mod scene;
mod store;
mod vector;

use pyo3::prelude::*;

/// Dayshift's native module; `dayshift` re-exports what is public.
#[pymodule]
fn _dayshift(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::register(module)?;
    module.add_class::<scenario::PyScenario>()?;
    module.add_class::<episode::PyEpisode>()?;
    module.add_class::<env::PyEnv>()?;
    module.add_class::<vector::PyVectorEnv>()?;
    module.add_class::<log::PyLog>()?;
    module.add_class::<report::PyReport>()?;
    module.add_class::<report::PyCredit>()?;
    module.add_class::<scene::PyScene>()?;
    module.add_class::<store::PyStore>()?;
    module.add_class::<check::PyCheck>()?;
    module.add_class::<key::PyKey>()?;
    module.add_function(wrap_pyfunction!(scenario::scenarios, module)?)?;
    module.add_function(wrap_pyfunction!(env::make, module)?)?;
    module.add_function(wrap_pyfunction!(log::load, module)?)?;
    module.add_function(wrap_pyfunction!(log::replay, module)?)?;
    module.add_function(wrap_pyfunction!(log::verify, module)?)?;
    Ok(())
}
