"""Classifiers whose scores are calibrated, and the pairs of a data set and a classifier."""

import numpy as np


def _scaled(classifier):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), classifier)


def _logistic(seed):
    from sklearn.linear_model import LogisticRegression

    return _scaled(LogisticRegression(max_iter=1000))


def _forest(seed):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, random_state=seed)


def _boosted(seed):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, random_state=seed, n_jobs=1, verbose=-1)


def _svm(seed):
    from sklearn.svm import SVC

    return _scaled(SVC())


def _naive_bayes(seed):
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _network(seed):
    from sklearn.neural_network import MLPClassifier

    return _scaled(MLPClassifier((32,), max_iter=150, random_state=seed))


MODELS = {
    "logistic": _logistic,
    "forest": _forest,
    "LightGBM": _boosted,
    "SVM": _svm,
    "naive Bayes": _naive_bayes,
    "network": _network,
}

PAIRS = [
    ("breast-cancer", "naive Bayes"),
    ("digits", "forest"),
    ("breast-cancer", "forest"),
    ("flchain", "LightGBM"),
    ("flchain", "SVM"),
    ("colon", "forest"),
    ("rotterdam", "naive Bayes"),
    ("rotterdam", "LightGBM"),
    ("mgus2", "network"),
    ("nafld", "LightGBM"),
    ("pima", "SVM"),
    ("pima", "forest"),
    ("biopsy", "naive Bayes"),
    ("churn", "forest"),
    ("churn", "network"),
    ("attrition", "LightGBM"),
    ("attrition", "SVM"),
    ("credit", "naive Bayes"),
    ("credit", "forest"),
    ("lending-club", "LightGBM"),
    ("cells", "SVM"),
    ("cells", "network"),
    ("stackoverflow", "LightGBM"),
    ("telco", "naive Bayes"),
    ("default", "forest"),
    ("orange-juice", "naive Bayes"),
    ("caravan", "LightGBM"),
    ("mroz", "network"),
    ("hmda", "logistic"),
    ("titanic", "logistic"),
    ("smoking", "network"),
    ("crashes", "LightGBM"),
    ("spam", "SVM"),
    ("spam", "naive Bayes"),
    ("email", "LightGBM"),
    ("digits", "naive Bayes"),
    ("jobs", "LightGBM"),
    ("jobs", "network"),
    ("beps", "naive Bayes"),
    ("chile", "forest"),
    ("diamonds", "LightGBM"),
]


def scores_of(model, seed, features, labels, others):
    """Fits a classifier; what kind of number its scores are, and those of other rows, as a device has them: float32."""
    fitted = MODELS[model](seed).fit(features, labels)
    if len(fitted.classes_) > 2:
        probs = fitted.predict_proba(others).astype(np.float32)
        return "probs", probs / probs.sum(axis=1, keepdims=True)
    if model == "SVM":
        return "margins", fitted.decision_function(others).astype(np.float32)
    return "scores", fitted.predict_proba(others)[:, 1].astype(np.float32)
