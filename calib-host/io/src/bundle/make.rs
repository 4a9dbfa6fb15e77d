//! A bundle from what it consists of.

use calib_core::artifact::KeyId;
use calib_core::slot::SignatureError;
use calib_fit::artifact::StoredArtifact;

use super::about::About;
use super::bom::{LinkedPackage, bom};
use super::changes::read_log;
use super::check::check;
use super::checklist::checklist;
use super::claims::{Claims, DataClaim, Origins};
use super::content::{Bundle, BundleFile};
use super::lie::Lie;
use super::statement::{self, Predicate};
use crate::files::PrivateKey;
use crate::report::{PageError, Report};

/// What a bundle consists of.
pub struct BundleParts<'a> {
    /// The artifact, signed by the key.
    pub artifact: &'a StoredArtifact,
    /// The report about it, without the names of folders.
    pub report: &'a Report,
    /// The files that the report is made from.
    pub data: Vec<DataClaim>,
    /// The command that makes it again.
    pub command: Vec<String>,
    /// When it is made, if it is to be stated: as in RFC 3339.
    pub created: Option<String>,
    /// What the owner states of the model, as it was given.
    pub about: Option<Vec<u8>>,
    /// The protocol that changes have to keep, as it was given.
    pub protocol: Option<Vec<u8>>,
    /// The log of decisions, as it was given.
    pub log: Option<Vec<u8>>,
    /// The packages of the program that makes it.
    pub packages: &'a [LinkedPackage<'a>],
    /// The owner's key.
    pub key: &'a PrivateKey,
}

impl BundleParts<'_> {
    /// Checks that a bundle of an artifact can be signed, before anything else is made.
    ///
    /// # Errors
    ///
    /// An artifact that the key did not sign.
    pub fn check_signature(artifact: &StoredArtifact, key: &PrivateKey) -> Result<(), BundleError> {
        let public = key.public();
        match artifact.artifact().signature() {
            None => Err(BundleError::Unsigned),
            Some(_) => {
                public.verify(artifact).map_err(|cause| BundleError::OtherKey { key: public.id(), cause })
            }
        }
    }
}

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The artifact has no signature.
    #[error("the artifact is not signed")]
    Unsigned,
    /// The artifact is signed, and not by the owner's key.
    #[error("the artifact is not signed with the key {key}: {cause}")]
    OtherKey {
        /// The owner's key.
        key: KeyId,
        /// What a device with this key would say.
        cause: SignatureError,
    },
    /// A file that was given is of no use.
    #[error(transparent)]
    Part(#[from] Lie),
    /// A page cannot be made.
    #[error(transparent)]
    Page(#[from] PageError),
    /// A file has no JSON form. It never happens with finite figures.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl Bundle {
    /// Makes a bundle: the same bytes for the same parts.
    ///
    /// ```
    /// use calib_fit::job::{FitOptions, fit};
    /// use calib_fit::{BinaryData, Dataset, StoredArtifact};
    /// use calib_io::bundle::{Bundle, BundleFile, BundleParts, check};
    /// use calib_io::files::PrivateKey;
    /// use calib_io::report::{Origin, ReportRequest, report_of};
    ///
    /// let rows = |n: u32, shift: f64| -> Result<Dataset, calib_fit::data::DataError> {
    ///     let scores = (0..n).map(|i| (f64::from(i) + shift) / f64::from(n)).collect();
    ///     Ok(BinaryData::new(scores, (0..n).map(|i| i % 40 < i * 40 / n / 2).collect())?.on_device().into())
    /// };
    /// let (calibration, test) = (rows(4000, 0.25)?, rows(1000, 0.5)?);
    /// let mut options = FitOptions::default();
    /// options.counter = 1;
    /// let key = PrivateKey::generate()?;
    /// let signed = key.sign(&fit(&calibration, &options)?.artifact).expect("nobody has signed it yet");
    /// let artifact = StoredArtifact::from_bytes(&signed)?;
    /// let mut how = ReportRequest::default();
    /// how.bootstrap = Some(100);
    /// let report = report_of(&artifact, [&calibration, &test], Origin::default(), &how)?;
    /// let bundle = Bundle::new(BundleParts {
    ///     artifact: &artifact,
    ///     report: &report,
    ///     data: Vec::new(),
    ///     command: ["calib", "report", "artifact.cal"].map(Into::into).to_vec(),
    ///     created: None,
    ///     about: None,
    ///     protocol: None,
    ///     log: None,
    ///     packages: &[],
    ///     key: &key,
    /// })?;
    /// assert_eq!(bundle.get(BundleFile::Artifact), Some(&*signed));
    ///
    /// let mut steps = Vec::new();
    /// let checked = check(&bundle, Some(&key.public()), &mut steps)?;
    /// let brier = checked.claims.get("metrics.after.brier").unwrap();
    /// assert_eq!(brier.value.number(), report.metrics.after.brier.value);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An artifact that the owner's key did not sign, or what the owner states in another form.
    pub fn new(parts: BundleParts<'_>) -> Result<Self, BundleError> {
        let public = parts.key.public();
        BundleParts::check_signature(parts.artifact, parts.key)?;
        let about = parts.about.as_deref().map(About::from_toml).transpose()?.unwrap_or_default();
        let page = parts.report.html()?;
        let log = parts.log.as_deref().map(read_log).transpose()?;
        let log_head = log.and_then(|log| log.head().map(str::to_owned));
        let (data, command, created) = (parts.data, parts.command, parts.created);
        let of = Origins { data, command, created, log_head };
        let claims = Claims::new(parts.artifact, parts.report, &page, of)?;
        let predicate = Predicate { calib: claims.calib.clone(), artifact: claims.artifact.identity.clone() };
        let mut bundle = Self::default();
        let given = [
            (BundleFile::About, parts.about),
            (BundleFile::Protocol, parts.protocol),
            (BundleFile::Log, parts.log),
        ];
        bundle.files.extend(given.into_iter().filter_map(|(file, bytes)| Some((file, bytes?))));
        bundle.files.extend([
            (BundleFile::Artifact, parts.artifact.as_bytes().to_vec()),
            (BundleFile::Bom, json_file(&bom(&claims, &about, parts.packages))?),
            (BundleFile::Claims, claims.to_json()?.into_bytes()),
            (BundleFile::Key, public.to_pem().into_bytes()),
        ]);
        let checklist = checklist(&bundle, &page, &claims, &about)?;
        bundle.files.insert(BundleFile::Checklist, checklist.into_bytes());
        bundle.files.insert(BundleFile::Report, page.into_bytes());
        let statement = statement::sign(&bundle, predicate, parts.key)?;
        bundle.files.insert(BundleFile::Statement, statement);
        // What its reader would refuse is not handed on.
        check(&bundle, Some(&public), &mut Vec::new())?;
        Ok(bundle)
    }
}

fn json_file(json: &serde_json::Value) -> serde_json::Result<Vec<u8>> {
    Ok(serde_json::to_string_pretty(json)?.into_bytes())
}
