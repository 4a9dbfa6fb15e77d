//! What a classifier puts out: scores, checked once.
//!
//! A binary classifier gives a [`Score`], a float in `[0, 1]`, a [`Margin`], any finite float, or a [`QuantizedScore`], an integer
//! code of a [`ScoreEncoding`]. A classifier of several classes gives [`Logits`] or [`Probs`], either of them a [`ScoreVector`].
//! Its [`TopLabel`] is the predicted class with its score, its [`TopLabelMargin`] the class with the top-two margin of the logits. A quantized
//! classifier of several classes gives a [`CodeVector`], of which it may tell the [`TopLabelCode`] or the [`TopLabelCodeMargin`] alone.
//!
//! A value of these types is valid: no calibrator has to check it again.
//!
//! This room imports no other.

mod classes;
mod code_vector;
mod encoding;
mod float;
mod logits;
mod margin;
mod ordered;
mod probs;
mod ranking;
mod score_vector;
mod sigmoid;
pub(crate) mod softmax;
mod top_label;
mod top_label_code;
mod top_label_code_margin;
mod top_label_margin;

pub use classes::{ClassCountError, MAX_CLASSES, MAX_TOP_K};
pub use code_vector::CodeVector;
pub use encoding::{CodeError, EncodingError, QuantizedScore, ScoreEncoding};
pub(crate) use float::ONE_BITS;
pub use float::{Score, ScoreError};
pub use logits::{Logits, LogitsError};
pub use margin::Margin;
pub(crate) use margin::key_of_bits;
pub use ordered::FloatScore;
pub(crate) use ordered::Ordered;
pub use probs::{Probs, ProbsError};
pub use score_vector::ScoreVector;
pub use sigmoid::sigmoid;
#[cfg(feature = "micromath")]
#[cfg_attr(docsrs, doc(cfg(feature = "micromath")))]
pub use sigmoid::sigmoid_fast;
pub use top_label::TopLabel;
pub use top_label_code::{CodeVectorError, TopLabelCode};
pub use top_label_code_margin::TopLabelCodeMargin;
pub use top_label_margin::TopLabelMargin;
