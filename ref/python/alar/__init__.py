"""alar: asynchronous log all-reduce, a reference engine and a correctness oracle.

    alar.torch      records the collectives of a PyTorch program as a history that `alar check` judges
    alar.flight     makes a history of PyTorch's Flight Recorder dumps

Importing this package imports neither torch nor anything that is not in the standard library.
"""

__version__ = "0.1.0"
