"""The recorder, by the name that the programs beside this one know."""
from alar.torch import *  # noqa: F401, F403
