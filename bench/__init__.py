"""Benchmarks: each module measures ratios in one run; `python3 manage.py bench` lists and runs them."""
