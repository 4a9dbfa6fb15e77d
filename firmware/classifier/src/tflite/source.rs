//! A network as Rust.

use std::path::Path;

use super::Network;
use crate::OutputKind;

/// The source of a `static CLASSIFIER`, for `include!` where `ClassifierId` and the names of [`network`](crate::network) and [`OutputKind`] are in scope.
///
/// `copy` is a copy of the network's file, by its whole path: microflow's macro reads it while this source is compiled, from the
/// compiler's folder, and cargo does not see that it does. The identity stands in the source, so another network is another
/// source.
pub fn source(network: &Network, copy: &Path) -> String {
    let Network { name, id, input, output, outputs, output_kind, .. } = network;
    format!(
        "#[microflow::model({copy:?})]\n\
         struct Layers;\n\n\
         #[allow(clippy::identity_op)]\n\
         fn run(codes: &[i8; {features}]) -> [f32; {outputs}] {{\n\
         \x20   let output = Layers::predict_quantized({buffer});\n\
         \x20   core::array::from_fn(|class| output[class])\n\
         }}\n\n\
         /// The classifier.\n\
         #[allow(unreachable_pub)]\n\
         pub static CLASSIFIER: Network<{features}, {outputs}> = Network::new(\n\
         \x20   {name:?},\n\
         \x20   ClassifierId({id:?}),\n\
         \x20   {input},\n\
         \x20   {output},\n\
         \x20   OutputKind::{output_kind},\n\
         \x20   run,\n\
         );\n",
        features = network.features(),
        buffer = buffer(&network.shape),
        id = id.0,
        input = codes(*input),
        output = codes(*output),
        output_kind = match output_kind {
            OutputKind::Logits => "Logits",
            OutputKind::Probs => "Probs",
        },
    )
}

/// The codes in the form that microflow takes.
fn buffer(shape: &[usize]) -> String {
    match *shape {
        [_, columns, channels] => format!(
            "[microflow::buffer::Buffer2D::from_fn(|row, column| core::array::from_fn(|channel| codes[(row * {columns} + \
             column) * {channels} + channel]))]"
        ),
        _ => "microflow::buffer::Buffer2D::from_fn(|_, feature| codes[feature])".into(),
    }
}

/// By bits: nothing is rounded on the way.
fn codes((scale, zero_point): (f32, i8)) -> String {
    format!("Codes {{ scale: f32::from_bits({:#010x}), zero_point: {zero_point} }}", scale.to_bits())
}
