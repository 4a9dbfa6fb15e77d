//! What users of the library see: one program, so that all is linked once.

mod adjust;
mod assess;
mod bands;
mod classifiers;
mod clinical;
mod clusters;
mod exact_coverage;
mod few_events;
mod groups;
mod intervals;
mod jobs;
mod margins;
mod multiclass_irp;
mod operating;
mod rows;
mod rules;
mod sets;
mod stored_bands;
mod top2_margins;
