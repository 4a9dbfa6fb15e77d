//! Values that several options take.

pub(crate) fn parse_alpha(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(alpha) if alpha > 0.0 && alpha < 1.0 => Ok(alpha),
        _ => Err("alpha is a fraction between 0 and 1, such as 0.05".into()),
    }
}
