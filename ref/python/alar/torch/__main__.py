"""python3 -m alar.torch -o DIR script.py [ARGUMENT]..."""
import sys

from .launch import main

sys.exit(main(sys.argv[1:]))
