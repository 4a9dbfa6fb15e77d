//! Fitting a data set.

use std::borrow::Cow;

use calib_core::artifact::Reduction;

use super::auto::{WhyBins, fit_chosen, fit_within, why_blend};
use super::error::NotFitted;
use super::finding::findings_of;
use super::joint::fit_vectors;
use super::method_name::ClassScore;
use super::options::{FitOptions, MethodChoice, ROWS_PER_BIN};
use crate::artifact::CompileError;
use crate::artifact::{Monitoring, StoredArtifact, artifact_bytes, values_outside};
use crate::assess::{Evidence, Flaw, evidence_of_fit, flaws};
use crate::bands::Band;
use crate::binary::{BinaryMethod, Blend, Gain, Model, Umd};
use crate::data::{BinaryData, RowGroups, with_points};
use crate::dataset::{Content, Dataset};
use crate::decide::with_decision;
use crate::error::FitError;
use crate::fit::{Fit, fit_binary, fit_weighted};
use crate::intervals::{self, Intervals, TableIntervals, fit_problems};
use crate::job::finding::Finding;
use crate::joint::JointFit;
use crate::options_error::OptionsError;
use crate::reduction::{Problems, ReductionOptions, fit_reduction};

/// What was fitted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fitted {
    /// The artifact.
    pub artifact: StoredArtifact,
    /// The function that it holds.
    pub model: FittedModel,
    /// What was chosen because nobody named it, and why.
    pub chosen: Option<OptionsError>,
    /// What speaks against the fit or its data, the weightiest first.
    pub findings: Vec<Finding>,
}

/// A fitted function, before it was made into bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum FittedModel {
    /// A table, or one for each problem of a reduction or each group.
    Tables(Fit),
    /// One calibrator of whole vectors.
    Joint(JointFit),
}

/// Fits a calibrator to a data set, and makes an artifact of it. The same rows and options give the same bytes for all.
///
/// Of rows in clusters one of each is fitted to. The bytes hold the hash of all rows, by which an assessment knows them again.
///
/// ```
/// use calib_fit::ScoreKind;
/// use calib_fit::dataset::{Dataset, Rows, Scores};
/// use calib_fit::job::{FitOptions, fit};
///
/// let scores: Vec<f32> = (0..4000).map(|i| i as f32 / 4000.0).collect();
/// let labels: Vec<i64> = (0..4000).map(|i| i64::from(i % 40 < i / 200)).collect();
/// let data = Dataset::new(Scores::Binary(ScoreKind::Probability, scores.into()), Rows::new(&labels))?;
///
/// let fitted = fit(&data, &FitOptions::default())?;
/// assert!(fitted.chosen.unwrap().to_string().starts_with("chosen: blend"));
/// // An exact interval of the event rate for each of 15 ranges of the score.
/// let artifact = fitted.artifact.artifact();
/// assert_eq!(artifact.score_intervals().unwrap().table(0).unwrap().intervals().count(), 15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Options that do not go together or with the data, data that nothing can be fitted to, or a fit that a device has no form for.
pub fn fit(data: &Dataset, options: &FitOptions) -> Result<Fitted, NotFitted> {
    options.check(data)?;
    let data = &*data.on_device();
    let rows = data.rows_digest()?;
    let mut findings = findings_of(data)?;
    let drawn = data.one_row_of_each_cluster(options.seed);
    let job = Job {
        options,
        // All of what was looked at is still known if nothing was left out.
        sample: drawn.as_ref().unwrap_or(data),
        rows: drawn.as_ref().filter(|drawn| drawn.len() != data.len()).map(|_| data.len()),
    };
    if let Some(method) = options.joint_method(job.sample) {
        let (sample, rows) = ((job.sample, job.rows), rows.clone());
        if let Some(made) = fit_vectors(options, &method, sample, rows)? {
            findings.extend(made.findings);
            let model = FittedModel::Joint(made.fit);
            return Ok(Fitted { artifact: made.artifact, model, chosen: made.chosen, findings });
        }
    }
    let OfTables { fit, chosen, monitors, evidence, beside, band } = job.tables()?;
    let fit = match job.rows {
        Some(rows) => fit.of_clusters(rows, options.seed),
        None => fit,
    };
    let fit = if options.is_compact() { fit.into_u16_table()? } else { fit };
    let fit = options.stated(fit);
    let fit = fit.of_classifiers(data.classifiers());
    let (intervals, outside) = beside.unzip();
    let (band, no_band) = match band {
        Some(Err(finding)) => (None, Some(finding)),
        band => (band.and_then(Result::ok), None),
    };
    let beside = options.artifact_options(rows, monitors).score_intervals(intervals).band(band);
    let bytes = artifact_bytes(&fit, &beside)?;
    let artifact = options.decided(&bytes)?;
    findings.extend(evidence);
    findings.extend(outside.flatten());
    findings.extend(fit.blend_gain().filter(Gain::is_loss).map(Finding::Loss));
    findings.extend(no_band);
    let are_coarse = findings.iter().any(|found| matches!(found, Finding::CoarseFloats { .. }));
    let mut flaws = flaws(&artifact.artifact());
    // Said of the margins, and the same helps.
    flaws.retain(|flaw| !(are_coarse && matches!(flaw, Flaw::Rounded { .. })));
    findings.extend(flaws.into_iter().map(Finding::Flaw));
    let chosen = chosen.map(|chosen| of_classifiers(chosen, data.classifiers()));
    Ok(Fitted { artifact, model: FittedModel::Tables(fit), chosen, findings })
}

/// Rows to fit to.
struct Job<'a> {
    options: &'a FitOptions,
    /// All rows, or one of each cluster.
    sample: &'a Dataset,
    /// Of how many rows these were drawn, if some were left out.
    rows: Option<u64>,
}

/// Tables, and what goes with them.
struct OfTables {
    fit: Fit,
    chosen: Option<OptionsError>,
    monitors: Option<Monitoring>,
    evidence: Option<Finding>,
    /// Intervals of ranges of the score, and what they say against the values.
    beside: Option<(Intervals, Option<Finding>)>,
    /// A band, or why there is none although it is stored by default.
    band: Option<Result<Band, Finding>>,
}

impl Job<'_> {
    fn tables(&self) -> Result<OfTables, NotFitted> {
        let Self { options, sample, .. } = self;
        let encoding = sample.encoding();
        let rounds = options.is_compact() && encoding.is_none();
        let made = match (sample.content(), sample.groups()) {
            (Content::Points(points), None) => self.one_table(points, rounds)?,
            (Content::Weighted(points), _) => {
                let monitors = options.monitoring(Some(points.units()))?;
                let points =
                    if rounds { Cow::Owned(points.clone().rounded()) } else { Cow::Borrowed(points) };
                let MethodChoice::Binary(how) = &options.method else {
                    return Err(no_bins_for_weights(&options.method).into());
                };
                let method = how.method_for_score(points.len())?;
                let fit = options.in_form(fit_weighted(&points, &method, options.divided_alpha())?);
                let fit = fit.with_score_summaries([Some(points.score_summary()?)]);
                OfTables { fit, chosen: None, monitors, evidence: None, beside: None, band: None }
            }
            (Content::Points(points), Some(groups)) => {
                let evidence = if sample.is_of_passes() {
                    None
                } else {
                    evidence_of_fit(points)?.map(Finding::Evidence)
                };
                let problems = by_group(points, groups)?;
                OfTables { evidence, ..self.several_tables(problems, rounds)? }
            }
            (Content::Vectors(vectors, labels), _) => self.several_tables(
                match options.class_score {
                    ClassScore::Margin => Problems::of_top2_margins(vectors, labels, self.reduction())?,
                    ClassScore::Softmax => Problems::new(vectors, labels, self.reduction())?,
                },
                rounds,
            )?,
            (Content::Codes(codes, labels), _) => self.several_tables(
                match options.class_score {
                    ClassScore::Margin => Problems::of_code_margins(codes, labels, self.reduction())?,
                    ClassScore::Softmax => Problems::of_codes(codes, labels, self.reduction())?,
                },
                rounds,
            )?,
        };
        let fit = match encoding {
            Some(encoding) => made.fit.quantized(encoding)?,
            None => made.fit,
        };
        Ok(OfTables { fit, ..made })
    }

    /// The reduction of several classes.
    fn reduction(&self) -> Reduction {
        self.options.reduction.unwrap_or(Reduction::TopLabel)
    }

    fn one_table(&self, points: &BinaryData, rounds: bool) -> Result<OfTables, NotFitted> {
        let Self { options, sample, .. } = self;
        // Of the scores as they are: that rounded ones have no monitors is said when the artifact is written.
        let monitors = options.monitoring(Some(points))?;
        let points = if rounds { Cow::Owned(points.clone().rounded()) } else { Cow::Borrowed(points) };
        let (fit, chosen) = match &options.method {
            MethodChoice::Auto => {
                let (fit, chosen) = fit_chosen(&points, options)?;
                (fit, Some(chosen))
            }
            MethodChoice::Within(epsilon) => {
                let (fit, chosen) = fit_within(&points, *epsilon, options)?;
                (fit, Some(chosen))
            }
            MethodChoice::Binary(how) => {
                (fit_binary(&points, &how.method_for_score(points.len())?, options.divided_alpha())?, None)
            }
            MethodChoice::Joint(_) => unreachable!("fitted before"),
        };
        let fit = options.in_form(fit);
        let (score_summary, evidence) = match sample.score_summaries() {
            Some(score_summaries) => (score_summaries[0], None),
            None if rounds => {
                (Some(points.score_summary()?), evidence_of_fit(&points)?.map(Finding::Evidence))
            }
            None => (sample.score_summary()?, evidence_of_fit(&points)?.map(Finding::Evidence)),
        };
        let has_ranges = options.wants_ranges(&fit, sample);
        let beside = self.beside(
            (&fit, has_ranges),
            || intervals::fit(&points, options.alpha),
            |_, model, ranges| {
                with_points!(points, |points| values_outside(points, model, fit.scores(), ranges))
            },
        )?;
        let band = if options.wants_band(has_ranges, points.len()) {
            self.band(&points, evidence.as_ref())?
        } else {
            None
        };
        Ok(OfTables {
            fit: fit.with_score_summaries([score_summary]),
            chosen,
            monitors,
            evidence,
            beside,
            band,
        })
    }

    fn several_tables(&self, problems: Problems, rounds: bool) -> Result<OfTables, NotFitted> {
        let Self { options, sample, .. } = self;
        let monitors = options.monitoring(None)?;
        let problems = if rounds { problems.rounded() } else { problems };
        let (how, chosen) = match &options.method {
            MethodChoice::Binary(how) => (*how, None),
            MethodChoice::Auto => {
                let why = WhyBins::of(options, rounds);
                let method = match why {
                    Some(_) => BinaryMethod::Umd(Umd::new(1)),
                    None => BinaryMethod::Blend(Blend::new(options.seed)),
                };
                let usual = ReductionOptions { method, rows_per_bin: Some(ROWS_PER_BIN) };
                let unnamed = (problems.reduction() != Reduction::Binary && options.reduction.is_none())
                    .then_some(problems.reduction());
                (usual, Some(why_tables(unnamed, why)))
            }
            MethodChoice::Within(_) | MethodChoice::Joint(_) => {
                return Err(no_bins_for_weights(&options.method).into());
            }
        };
        let fit = options.in_form(fit_reduction(&problems, &how, options.divided_alpha())?);
        let score_summaries =
            sample.score_summaries().map_or_else(|| problems.score_summaries(), <[_]>::to_vec);
        let beside = self.beside(
            (&fit, options.wants_ranges(&fit, sample)),
            || fit_problems(&problems, &fit, options.alpha),
            |table, model, ranges| values_outside(&problems.groups(table)[..], model, fit.scores(), ranges),
        )?;
        Ok(OfTables {
            fit: fit.with_score_summaries(score_summaries),
            chosen,
            monitors,
            evidence: None,
            beside,
            band: None,
        })
    }

    /// A band that is to be stored, or why there is none. If it was asked for, there is one or an error.
    fn band(
        &self,
        points: &BinaryData,
        evidence: Option<&Finding>,
    ) -> Result<Option<Result<Band, Finding>>, NotFitted> {
        let cause = match (evidence, Band::fit(points, self.options.alpha)) {
            (Some(Finding::Evidence(Evidence::Reversed { .. })), Ok(_)) => FitError::Reversed,
            (_, Ok(band)) => return Ok(Some(Ok(band))),
            (_, Err(cause)) => cause,
        };
        match cause {
            FitError::NotMonotone { .. } | FitError::Reversed if self.options.band.is_none() => {
                Ok(Some(Err(Finding::NoBand(cause))))
            }
            cause => Err(cause.into()),
        }
    }

    /// Intervals beside the tables of a fit, if it is to have some; `outside` counts the ranges whose mean value lies outside.
    fn beside(
        &self,
        (fit, has_ranges): (&Fit, bool),
        found: impl FnOnce() -> Result<Intervals, FitError>,
        outside: impl Fn(usize, &Model, &TableIntervals) -> Result<usize, FitError>,
    ) -> Result<Option<(Intervals, Option<Finding>)>, NotFitted> {
        if !has_ranges {
            return Ok(None);
        }
        let found = found()?;
        let tables = fit.tables().iter().zip(found.tables()).enumerate();
        let (mut count, mut ranges) = (0, 0);
        for (index, table) in tables {
            if let (Some(fitted), Some(table)) = table {
                count += outside(index, fitted.model(), table)?;
                ranges += table.bins().len();
            }
        }
        let finding = (count > 0).then_some(Finding::ValuesOutside { outside: count, ranges });
        Ok(Some((found, finding)))
    }
}

/// The problems of groups. Points of a row are counted if rows stand for several of them.
fn by_group(points: &BinaryData, groups: &RowGroups) -> Result<Problems, NotFitted> {
    let rows: Vec<(f64, u64, u64)> = points.rows().expect("rows in groups are known").collect();
    let (kind, are_counted) = (points.kind(), points.are_counted());
    let of_group = |(group, name): (usize, &String)| {
        let rows = groups.rows_of(group).map(|row| rows[row]);
        let problems = if are_counted {
            Problems::of_counts(rows.collect(), kind)
        } else {
            let (scores, labels): (Vec<f64>, Vec<bool>) = rows.map(|row| (row.0, row.2 == 1)).unzip();
            Problems::of_scores(&scores, &labels, kind)
        };
        (name.clone(), problems)
    };
    let problems = Problems::by_group(groups.names().iter().enumerate().map(of_group).collect());
    problems.ok_or_else(|| {
        OptionsError::new("`groups` names only one group: each group has a separate table").into()
    })
}

/// Why several tables are what they are, if nobody named a method; `reduction` if nobody named that either.
fn why_tables(reduction: Option<Reduction>, why_bins: Option<WhyBins>) -> OptionsError {
    let of_what = reduction
        .map_or(String::new(), |reduction| format!("{reduction} (is the predicted class right?) by "));
    // Chosen without a look at the rows, so that alpha is not shared.
    match why_bins {
        Some(why) => OptionsError::new(format!(
            "chosen: {of_what}umd with {ROWS_PER_BIN} observations a bin (Gupta and Ramdas 2022): {}",
            why.text()
        )),
        None if reduction.is_some() => {
            OptionsError::new(format!("chosen: {of_what}blend; every class: `reduction=class-wise`"))
        }
        None => why_blend(false),
    }
}

/// What is said where no bins are chosen.
fn no_bins_for_weights(method: &MethodChoice) -> OptionsError {
    OptionsError::new(match method {
        MethodChoice::Within(_) => {
            "`epsilon` is for one score of class 1, a row for every observation, and `method=umd`"
        }
        _ => {
            "a blend is of rows that count the same, with scores that are not rounded: name a method, such as `method=platt` or \
             `method=isotonic`"
        }
    })
}

/// With what several classifiers change of it.
fn of_classifiers(chosen: OptionsError, classifiers: u32) -> OptionsError {
    if classifiers <= 1 {
        return chosen;
    }
    let why = chosen.with_names(|name| format!("`{name}`"));
    OptionsError::new(format!("{why}; scores by {classifiers} classifiers have none"))
}

impl FitOptions {
    /// The artifact of these bytes, with the decision rule if there is one.
    pub(super) fn decided(&self, bytes: &[u8]) -> Result<StoredArtifact, NotFitted> {
        let artifact = StoredArtifact::from_bytes(bytes).expect("just written");
        let Some((actions, rule)) = &self.decision else { return Ok(artifact) };
        if actions.ask_for_band() && artifact.artifact().band().is_none() {
            return Err(OptionsError::new(
                "an action asks for the band at a score (if_sure = \"band\"), and no band is stored: `band` stores one",
            )
            .into());
        }
        let bytes = with_decision(&artifact, actions, rule, None).map_err(CompileError::from)?;
        Ok(StoredArtifact::from_bytes(&bytes).expect("just written"))
    }
}
