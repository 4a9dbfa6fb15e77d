//! What a TFLite file says: tensors, and operators between them.
//!
//! Fields are numbered as in TensorFlow's `schema.fbs`, version 3.

use super::Fault;
use super::flatbuffer::{Damaged, Table};

/// The type of a tensor of int8 codes.
const INT8: i8 = 9;

/// A file's only graph.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    pub(crate) input: usize,
    pub(crate) output: usize,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) operators: Vec<Operator<'a>>,
}

#[derive(Debug)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<i32>,
    pub(crate) is_int8: bool,
    pub(crate) scales: Vec<f32>,
    pub(crate) zero_points: Vec<i64>,
}

#[derive(Debug)]
pub(crate) struct Operator<'a> {
    /// The number in `BuiltinOperator`.
    pub(crate) code: i32,
    /// Tensors; -1 for one that is left out.
    pub(crate) inputs: Vec<i32>,
    pub(crate) outputs: Vec<i32>,
    pub(crate) options: Option<Table<'a>>,
}

impl<'a> Graph<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let model = Table::root(bytes, b"TFL3")?;
        let codes: Vec<i32> = model.tables(1)?.into_iter().map(operator_code).collect::<Result<_, _>>()?;
        let graphs = model.tables(2)?;
        let [graph] = graphs[..] else { return Err(Fault::Graphs(graphs.len())) };
        let tensors: Vec<Tensor> =
            graph.tables(0)?.into_iter().map(Tensor::read).collect::<Result<_, _>>()?;
        let operators = graph.tables(3)?.into_iter().map(|operator| Operator::read(operator, &codes));
        let operators = operators.collect::<Result<_, _>>()?;
        let (input, output) = (one(&graph.numbers(1)?), one(&graph.numbers(2)?));
        let input = input.ok_or(Fault::Inputs)?;
        let output = output.ok_or(Fault::Outputs)?;
        if input.max(output) >= tensors.len() {
            return Err(Damaged.into());
        }
        Ok(Self { input, output, tensors, operators })
    }

    /// An operator's tensor; `None` if it is left out.
    pub(crate) fn tensor(&self, numbers: &[i32], at: usize) -> Option<&Tensor> {
        self.tensors.get(usize::try_from(*numbers.get(at)?).ok()?)
    }
}

impl Tensor {
    fn read(table: Table<'_>) -> Result<Self, Damaged> {
        let (scales, zero_points) = match table.table(4)? {
            Some(quantization) => (quantization.numbers(2)?, quantization.numbers(3)?),
            None => (Vec::new(), Vec::new()),
        };
        Ok(Self { shape: table.numbers(0)?, is_int8: table.number(1, 0i8)? == INT8, scales, zero_points })
    }

    /// The scale and zero point of int8 codes that have one each.
    pub(crate) fn quantization(&self) -> Option<(f32, i8)> {
        let (&[scale], &[zero_point]) = (&self.scales[..], &self.zero_points[..]) else { return None };
        let zero_point = i8::try_from(zero_point).ok()?;
        (self.is_int8 && scale.is_finite() && scale > 0.0).then_some((scale, zero_point))
    }

    /// The lengths of the dimensions; `None` if one is not above 0.
    pub(crate) fn lengths(&self) -> Option<Vec<usize>> {
        self.shape.iter().map(|&length| usize::try_from(length).ok().filter(|&length| length > 0)).collect()
    }
}

impl<'a> Operator<'a> {
    fn read(table: Table<'a>, codes: &[i32]) -> Result<Self, Damaged> {
        let code = *codes.get(table.number(0, 0u32)? as usize).ok_or(Damaged)?;
        Ok(Self { code, inputs: table.numbers(1)?, outputs: table.numbers(2)?, options: table.table(4)? })
    }

    /// A number among the options.
    pub(crate) fn option<N: super::flatbuffer::Number>(
        &self,
        field: usize,
        default: N,
    ) -> Result<N, Damaged> {
        self.options.map_or(Ok(default), |options| options.number(field, default))
    }
}

/// An operator's number: older files have it in a byte, newer files in both places.
fn operator_code(table: Table<'_>) -> Result<i32, Damaged> {
    Ok(i32::from(table.number(0, 0i8)?).max(table.number(3, 0i32)?))
}

/// The only number, if there is one alone.
fn one(numbers: &[i32]) -> Option<usize> {
    match *numbers {
        [number] => usize::try_from(number).ok(),
        _ => None,
    }
}
