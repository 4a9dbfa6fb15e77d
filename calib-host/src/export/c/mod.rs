//! The tables as a header in C.

use std::fmt::Write;

use calib_core::Artifact;

use super::{Steps, title};

/// What every header holds; `NAME` and `CAPITALS` stand for the caller's.
const BEFORE: &str = "\
#ifndef CAPITALS_H
#define CAPITALS_H

#include <stdint.h>
#include <string.h>

/* The score was calibrated. */
#define CAPITALS_OK 0
/* The score is NaN, infinite, or outside [0, 1]. */
#define CAPITALS_BAD_SCORE 1
/* There is no such table, or its class had too few calibration points. */
#define CAPITALS_UNCALIBRATED 2

/* A calibrated probability. */
struct NAME_result {
    float prob;
    /* With the artefact's failure probability, prob is within epsilon of the truth; -1: nothing is guaranteed. */
    float epsilon;
    uint32_t bin;
};

struct NAME_table {
    uint32_t edges;
    uint32_t epsilon;
    const uint32_t *edge;
    const uint32_t *value;
    const uint8_t *empty;
};
";

const AFTER: &str = "
/* The probability for a score, which is a float of IEEE 754, by the table of its class (0 for a binary classifier). Floats
   from 0 up are ordered like their bits, so that no floating-point unit or library is needed. */
static inline int NAME_calibrate(uint32_t table, float score, struct NAME_result *result)
{
    const struct NAME_table *t;
    uint32_t bits, bin = 0, count;

    if (table >= sizeof NAME_tables / sizeof *NAME_tables || !NAME_tables[table].value)
        return CAPITALS_UNCALIBRATED;
    t = &NAME_tables[table];
    memcpy(&bits, &score, sizeof bits);
    if (bits == 0x80000000u)
        bits = 0;
    if (bits > 0x3f800000u)
        return CAPITALS_BAD_SCORE;
    for (count = t->edges; count > 0;) {
        uint32_t half = count / 2;
        if (t->edge[bin + half] <= bits) {
            bin += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    result->bin = bin;
    memcpy(&result->prob, &t->value[bin], sizeof result->prob);
    /* -1 */
    bits = t->empty[bin] ? 0xbf800000u : t->epsilon;
    memcpy(&result->epsilon, &bits, sizeof result->epsilon);
    return CAPITALS_OK;
}

#endif
";

/// The header.
pub(super) fn header(artifact: &Artifact<'_>, tables: &[Option<Steps<'_>>], name: &str) -> String {
    let mut text = format!("/* {} */\n", title(artifact));
    let named =
        |template: &str| template.replace("CAPITALS", &name.to_ascii_uppercase()).replace("NAME", name);
    text.push_str(&named(BEFORE));
    text.push('\n');
    // Writing to a string does not fail.
    for (index, steps) in tables.iter().enumerate() {
        let Some(Steps { table, empty, .. }) = steps else { continue };
        // C has no empty arrays.
        let edges = if table.edges().is_empty() { "0".into() } else { words(table.edges().iter().copied()) };
        let empty: Vec<&str> = empty.iter().map(|&empty| if empty { "1" } else { "0" }).collect();
        let _ = writeln!(text, "static const uint32_t {name}_edge_{index}[] = {{{edges}}};");
        let _ =
            writeln!(text, "static const uint32_t {name}_value_{index}[] = {{{}}};", words(table.values()));
        let _ = writeln!(text, "static const uint8_t {name}_empty_{index}[] = {{{}}};", empty.join(", "));
    }
    let _ = writeln!(text, "\nstatic const struct {name}_table {name}_tables[] = {{");
    for (index, steps) in tables.iter().enumerate() {
        let _ = match steps {
            None => writeln!(text, "    {{0, 0, 0, 0, 0}},"),
            Some(Steps { table, epsilon, .. }) => writeln!(
                text,
                "    {{{}, {:#010x}, {name}_edge_{index}, {name}_value_{index}, {name}_empty_{index}}},",
                table.edges().len(),
                epsilon.unwrap_or(-1.0).to_bits()
            ),
        };
    }
    text.push_str("};\n");
    text.push_str(&named(AFTER));
    text
}

/// The bits of floats.
fn words(numbers: impl Iterator<Item = f32>) -> String {
    let numbers: Vec<String> = numbers.map(|number| format!("{:#010x}", number.to_bits())).collect();
    numbers.join(", ")
}
