"""Reprocessing from the page and from the command line."""

from django.test import Client
from django.urls import reverse

from dashboard.models import AuditEntry, Run
from projections.models import Projection
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_replay_command import replay
from tests.dlq.replay.test_replay_pages import read_form


def test_it_works_from_the_page(operator: Client, handled: None) -> None:
    url = reverse("dlq:events")
    row = Projection.objects.get(name="letters")
    link = f"{url}?consumer=letters"
    assert link in operator.get(reverse("projections:projection", args=[row.pk])).content.decode()
    html = operator.get(f"{link}&stream=a&type=Paid").content.decode()
    assert "Reprocess 2 events of letters" in html
    assert "repeats their effects" in html
    assert "manage.py replay --events letters --stream a --type Paid --canary --acknowledge" in html
    form = read_form(html) | {"start": "canary", "stop_after": "5", "lanes": "4", "reason": "mended"}
    post = reverse("dlq:reprocess")
    assert operator.post(post, form).status_code == 409
    places = {operator.post(post, form | {"acknowledged": "on"})["Location"] for _ in range(2)}
    run = Run.objects.get()
    assert places == {reverse("runs:run", args=[run.pk])}
    assert totals(run_all(run)) == {"succeeded": 2}
    entry = AuditEntry.objects.filter(action="event.reprocess", outcome="succeeded").earliest("pk")
    assert (entry.details["count"], entry.details["stream"], entry.reason) == (2, "a", "mended")


def test_a_viewer_may_not_and_nonsense_is_named(viewer: Client, operator: Client, handled: None) -> None:
    assert viewer.get(reverse("dlq:events")).status_code == 403
    for query, status in (("", 200), ("consumer=nobody", 400), ("consumer=letters&since=soon", 400)):
        assert operator.get(f"{reverse('dlq:events')}?{query}").status_code == status
    html = operator.get(f"{reverse('dlq:events')}?consumer=letters&type=Nothing")
    assert (html.status_code, "Nothing" in html.content.decode()) == (400, True)


def test_the_command_line_does_the_same(handled: None) -> None:
    said = replay("--events=letters", "--stream=a", "--yes", "--acknowledge", "--reason=mended")
    assert "Reprocess 3 events of letters: 1 streams" in said
    assert totals(run_all(Run.objects.get())) == {"succeeded": 3}
