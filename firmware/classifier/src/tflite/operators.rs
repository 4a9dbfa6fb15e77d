//! Which operators run, and with which options.

use super::Fault;
use super::flatbuffer::Damaged;
use super::graph::{Graph, Operator, Tensor};

/// The numbers of operators in `BuiltinOperator`, with their names: those that run, and those that a message is to name.
const NAMES: [(i32, &str); 20] = [
    (0, "ADD"),
    (AVERAGE_POOL_2D, "AVERAGE_POOL_2D"),
    (2, "CONCATENATION"),
    (CONV_2D, "CONV_2D"),
    (DEPTHWISE_CONV_2D, "DEPTHWISE_CONV_2D"),
    (6, "DEQUANTIZE"),
    (FULLY_CONNECTED, "FULLY_CONNECTED"),
    (14, "LOGISTIC"),
    (17, "MAX_POOL_2D"),
    (18, "MUL"),
    (19, "RELU"),
    (RESHAPE, "RESHAPE"),
    (SOFTMAX, "SOFTMAX"),
    (28, "TANH"),
    (34, "PAD"),
    (40, "MEAN"),
    (45, "STRIDED_SLICE"),
    (77, "SHAPE"),
    (83, "PACK"),
    (114, "QUANTIZE"),
];
const AVERAGE_POOL_2D: i32 = 1;
const CONV_2D: i32 = 3;
const DEPTHWISE_CONV_2D: i32 = 4;
const FULLY_CONNECTED: i32 = 9;
const RESHAPE: i32 = 22;
const SOFTMAX: i32 = 25;

/// The padding that keeps the number of rows and columns.
const SAME: i8 = 0;
/// The activations that run: none, ReLU and ReLU6.
const ACTIVATIONS: [i8; 3] = [0, 1, 3];
/// The codes of TensorFlow Lite's softmax.
const PROBS: (f32, i8) = (1.0 / 256.0, -128);
/// The logarithm of a number that is near the largest, or one over the smallest, of full precision in f32.
const LARGEST_EXPONENT: f32 = 87.0;

/// Checks every operator; whether the last one is a softmax.
pub(crate) fn check(graph: &Graph<'_>) -> Result<bool, Fault> {
    let mut before = graph.input;
    for (at, operator) in graph.operators.iter().enumerate() {
        let name = NAMES.iter().find(|(code, _)| *code == operator.code).map(|(_, name)| *name);
        let unknown = || Fault::Operator(at, name.map_or(format!("number {}", operator.code), str::to_owned));
        let takes = operator.inputs.first().map(|&input| usize::try_from(input));
        let &[gives] = &operator.outputs[..] else { return Err(Fault::Chain(at)) };
        match operator.code {
            CONV_2D => filter(graph, at, operator, Fields { activation: 3, dilations: [4, 5] })?,
            DEPTHWISE_CONV_2D => filter(graph, at, operator, Fields { activation: 4, dilations: [5, 6] })?,
            FULLY_CONNECTED => dense(graph, at, operator)?,
            AVERAGE_POOL_2D => {
                activation(at, operator, 5)?;
                let sizes = [operator.option(4, 0i32)?, operator.option(3, 0i32)?];
                padding(graph, at, operator, sizes)?;
            }
            RESHAPE => {}
            SOFTMAX => softmax(graph, at, operator)?,
            _ => return Err(unknown()),
        }
        if takes != Some(Ok(before)) || graph.tensor(&operator.outputs, 0).is_none() {
            return Err(Fault::Chain(at));
        }
        before = usize::try_from(gives).map_err(|_| Damaged)?;
    }
    if before != graph.output || graph.operators.is_empty() {
        return Err(Fault::Chain(graph.operators.len()));
    }
    Ok(graph.operators.last().is_some_and(|operator| operator.code == SOFTMAX))
}

/// Where an operator's options are.
struct Fields {
    activation: usize,
    dilations: [usize; 2],
}

fn filter(graph: &Graph<'_>, at: usize, operator: &Operator<'_>, fields: Fields) -> Result<(), Fault> {
    bias(graph, at, operator)?;
    activation(at, operator, fields.activation)?;
    for dilation in fields.dilations {
        if operator.option(dilation, 1i32)? != 1 {
            return Err(Fault::Dilation(at));
        }
    }
    let shape = &graph.tensor(&operator.inputs, 1).ok_or(Damaged)?.shape;
    let &[_, rows, columns, _] = &shape[..] else { return Err(Fault::Damaged) };
    padding(graph, at, operator, [rows, columns])
}

fn dense(graph: &Graph<'_>, at: usize, operator: &Operator<'_>) -> Result<(), Fault> {
    let scales = graph.tensor(&operator.inputs, 1).ok_or(Damaged)?.scales.len();
    if scales != 1 {
        return Err(Fault::PerChannelDense(at, scales));
    }
    bias(graph, at, operator)?;
    activation(at, operator, 0)
}

fn bias(graph: &Graph<'_>, at: usize, operator: &Operator<'_>) -> Result<(), Fault> {
    graph.tensor(&operator.inputs, 2).map(|_| ()).ok_or(Fault::Bias(at))
}

fn activation(at: usize, operator: &Operator<'_>, field: usize) -> Result<(), Fault> {
    if ACTIVATIONS.contains(&operator.option(field, 0i8)?) { Ok(()) } else { Err(Fault::Activation(at)) }
}

/// Refuses "same" padding that microflow centers otherwise than TensorFlow, which looks at the stride.
fn padding(graph: &Graph<'_>, at: usize, operator: &Operator<'_>, sizes: [i32; 2]) -> Result<(), Fault> {
    if operator.option(0, SAME)? != SAME {
        return Ok(());
    }
    let input = graph.tensor(&operator.inputs, 0).and_then(Tensor::lengths).ok_or(Damaged)?;
    let &[_, rows, columns, _] = &input[..] else { return Err(Fault::Damaged) };
    // The horizontal stride stands first.
    let strides = [operator.option(2, 0i32)?, operator.option(1, 0i32)?];
    for ((length, size), stride) in [rows, columns].into_iter().zip(sizes).zip(strides) {
        let (Ok(size @ 1..), Ok(stride @ 1..)) = (usize::try_from(size), usize::try_from(stride)) else {
            return Err(Fault::Damaged);
        };
        let covered = (length.div_ceil(stride) - 1).saturating_mul(stride).saturating_add(size);
        let (needed, added) = (covered.saturating_sub(length) / 2, (size - 1) / 2);
        if needed != added {
            return Err(Fault::Padding { layer: at, needed, added });
        }
    }
    Ok(())
}

/// microflow's softmax is the exponentials of all logits, as they are, over their sum.
fn softmax(graph: &Graph<'_>, at: usize, operator: &Operator<'_>) -> Result<(), Fault> {
    let given = graph.tensor(&operator.outputs, 0).and_then(Tensor::quantization);
    if at + 1 != graph.operators.len() || operator.option(0, 0f32)? != 1.0 || given != Some(PROBS) {
        return Err(Fault::Softmax);
    }
    let logits = graph.tensor(&operator.inputs, 0).ok_or(Damaged)?;
    let (scale, _) = logits.quantization().ok_or(Fault::Softmax)?;
    let classes = logits.lengths().and_then(|lengths| lengths.last().copied()).ok_or(Damaged)?;
    // Codes reach from -128 to 127: the largest sum of exponentials, and the smallest.
    if 128.0 * scale + (classes as f32).ln() > LARGEST_EXPONENT {
        return Err(Fault::LogitScale(scale, classes));
    }
    Ok(())
}
