//! Between Python's plain data (None, bool, int, float, str, list, tuple, dict) and the kernel's values.

use dayshift_engine::{SmolStr, ToolCall, VALUE_DEPTH_MAX, Value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Returns `object` as a value.
///
/// # Errors
///
/// `TypeError` for anything that is no plain data, `ValueError` for whole numbers beyond 64 bits, NaN, infinities, and data nested deeper
/// than the kernel takes.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    nested(object, 0)
}

/// Returns the call of `tool` with `arguments`. Data that an agent can send and a record cannot hold (whole numbers beyond 64 bits, numbers
/// that are not finite, lone surrogates, deep nesting) makes a call that is refused on record.
///
/// # Errors
///
/// `TypeError` for anything that is no plain data: that is the program's mistake.
pub(crate) fn to_call(tool: SmolStr, arguments: &Bound<'_, PyAny>) -> PyResult<ToolCall> {
    match to_value(arguments) {
        Ok(arguments) => Ok(ToolCall { tool, arguments }),
        Err(error) if error.is_instance_of::<PyValueError>(arguments.py()) => {
            Ok(ToolCall::unreadable(tool, format!("the arguments cannot be read: {}", error.value(arguments.py()))))
        }
        Err(error) => Err(error),
    }
}

/// Returns the text that `object` is; lone surrogates become U+FFFD.
///
/// # Errors
///
/// `TypeError` when it is none.
pub(crate) fn to_text(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(object.cast::<PyString>()?.to_string_lossy().into_owned())
}

fn nested(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > VALUE_DEPTH_MAX {
        return Err(PyValueError::new_err(format!("data nests deeper than {VALUE_DEPTH_MAX} levels")));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text.to_cow()?.into()));
    }
    if let Ok(map) = object.cast::<PyDict>() {
        let mut entries = std::collections::BTreeMap::new();
        for (key, item) in map.iter() {
            let key = key.cast::<PyString>().map_err(|_| PyTypeError::new_err("the keys of a dict must be str"))?;
            entries.insert(SmolStr::from(key.to_cow()?), nested(&item, depth + 1)?);
        }
        return Ok(Value::Map(entries));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return list.iter().map(|item| nested(&item, depth + 1)).collect::<PyResult<Vec<_>>>().map(Value::List);
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    // Before int: a bool is one.
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return object
            .extract::<i64>()
            .map(Value::Int)
            .map_err(|_| PyValueError::new_err("whole numbers have at most 64 bits"));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let number = number.value();
        if !number.is_finite() {
            return Err(PyValueError::new_err("numbers must be finite"));
        }
        return Ok(Value::Float(number));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return tuple.iter().map(|item| nested(&item, depth + 1)).collect::<PyResult<Vec<_>>>().map(Value::List);
    }
    Err(PyTypeError::new_err(format!(
        "{} is no plain data: use None, bool, int, float, str, list or dict",
        object.get_type().name()?
    )))
}

/// Returns `value` as Python's plain data.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::List(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Map(map) => {
            let dict = PyDict::new(py);
            for (key, item) in map {
                dict.set_item(PyString::new(py, key), to_python(py, item)?)?;
            }
            dict.into_any()
        }
    })
}

/// Returns what serde makes of `data` as Python's plain data.
pub(crate) fn serialized<'py>(py: Python<'py>, data: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_vec(data).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let value: Value = serde_json::from_slice(&text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    to_python(py, &value)
}
