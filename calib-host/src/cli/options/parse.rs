//! Values that several options take.

use calib_core::ClassifierId;

pub(crate) fn parse_alpha(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(alpha) if alpha > 0.0 && alpha < 1.0 => Ok(alpha),
        _ => Err("alpha is a fraction between 0 and 1, such as 0.05".into()),
    }
}

pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("it is a share between 0 and 1, neither of them, such as 0.95".into()),
    }
}

pub(crate) fn parse_classifier(text: &str) -> Result<ClassifierId, String> {
    let mut id = [0; 8];
    hex::decode_to_slice(text, &mut id).map_err(|_| "a classifier id has 16 hex digits".to_owned())?;
    Ok(ClassifierId(id))
}
