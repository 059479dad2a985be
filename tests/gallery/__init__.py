"""Every state of every page, to be looked at: what the tests' pages show, photographed.

python3 manage.py test -p tests.gallery.keeping --gallery=DIRECTORY tests/dlq   # keeps the pages that these tests see
.venv/bin/python -m tests.gallery DIRECTORY    # says what none of them shows, photographs the fewest that show the rest

Of those that are photographed it also says what the walk over every page would complain of: what scrolls sideways, is
cut off, or is a serious violation that axe-core knows.

What a template says depends on its branches: `branches.py` notes which a page took, so that a state that nobody has
ever looked at has a name.
"""
