"""What people use in Python to fit calibrators of several classes: `classes.py METHOD` in the folder of the files."""

import sys

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, logsumexp, softmax

BINS = 15


def binned(scores, labels):
    """Uniform-mass bins: edges, and the rate of each bin."""
    edges = np.quantile(scores, np.linspace(0, 1, BINS + 1)[1:-1])
    bins = np.digitize(scores, edges)
    counts = np.bincount(bins, minlength=BINS)
    return edges, np.bincount(bins, weights=labels, minlength=BINS) / np.maximum(counts, 1)


def top_label(logits, labels):
    predicted = logits.argmax(axis=1)
    scores = softmax(logits, axis=1).max(axis=1)
    hits = (predicted == labels).astype(float)
    return [binned(scores[predicted == k], hits[predicted == k]) for k in range(logits.shape[1])]


def class_wise(logits, labels):
    probs = softmax(logits, axis=1)
    return [binned(probs[:, k], (labels == k).astype(float)) for k in range(logits.shape[1])]


def temperature(logits, labels):
    own = logits[np.arange(len(labels)), labels].mean()
    return minimize_scalar(lambda t: logsumexp(t * logits, axis=1).mean() - t * own, bounds=(0.01, 10))


def vector(logits, labels):
    rows, classes = logits.shape
    truth = np.eye(classes)[labels]

    def loss(parameters):
        weights, intercepts = parameters[:classes], parameters[classes:]
        scaled = weights * logits + intercepts
        log_probs = log_softmax(scaled, axis=1)
        slope = (np.exp(log_probs) - truth) / rows
        gradient = np.concatenate([(slope * logits).sum(axis=0), slope.sum(axis=0)])
        return -log_probs[np.arange(rows), labels].mean(), gradient

    return minimize(loss, np.concatenate([np.ones(classes), np.zeros(classes)]), jac=True, method="L-BFGS-B")


def matrix(logits, labels):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=np.inf, max_iter=1000).fit(logits, labels)


def matrix_to_optimum(logits, labels):
    """With as small a gradient as the optimizer reaches: by default it stops at 1e-4, and calib at 1e-10."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=np.inf, max_iter=10_000, tol=1e-8).fit(logits, labels)


def dirichlet(logits, labels):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1.0, max_iter=1000).fit(log_softmax(logits, axis=1), labels)


FITS = top_label, class_wise, temperature, vector, matrix, matrix_to_optimum, dirichlet
METHODS = {f.__name__.replace("_", "-"): f for f in FITS}
METHODS[sys.argv[1]](np.load("logits.npy").astype(np.float64), np.load("labels.npy"))
