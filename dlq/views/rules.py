from uuid import uuid4

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import may, needs
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.posted import read_number, read_request_key
from dashboard.words import counted
from dlq.forms import RuleForm
from dlq.models import ClassificationRule
from dlq.operations import add_rule, apply_rules, remove_rule
from dlq.operations.errors import ConfirmAgain, OperationError
from dlq.queries import list_shipped_rules
from dlq.queries.rules import MOST_DECIDED, count_decided, preview_rule
from dlq.reclassify import count_reclassified
from dlq.views.selecting import is_typed, refuse_untyped

# More than anybody keeps in mind; those that are asked first come first.
SHOWN = 500


@require_safe
def list_rules(request: HtmxHttpRequest) -> HttpResponse:
    """The rules in the order in which they are asked; with a new one in the URL, what it would change."""
    form = RuleForm(request.GET) if request.GET else RuleForm()
    is_valid = form.is_bound and form.is_valid()
    # Only for those who may add it: what a rule would match tells something about messages.
    may_add = is_valid and may(request.user, "rule.add")
    rule = form.save(commit=False) if may_add else None
    return render_rules(request, form, rule, status=400 if form.is_bound and not is_valid else 200)


@require_POST
@needs("rule.add")
def add(request: HtmxHttpRequest) -> HttpResponse:
    form = RuleForm(request.POST)
    if not form.is_valid():
        return render_rules(request, form, status=400)
    rule = add_rule(form.save(commit=False), actor=request.user)
    messages.success(request, f"Rule {rule.pk} holds for what fails from now on.")
    return redirect("dlq:rules")


def render_rules(
    request: HtmxHttpRequest, form: RuleForm, rule: ClassificationRule | None = None, *, status: int
) -> HttpResponse:
    """`rule` is what the form would add; None: it is not to be previewed."""
    context = {
        "form": form,
        "rule": rule,
        "preview": count_reclassified(rule) if rule else None,
        "rules": ClassificationRule.objects.all()[:SHOWN],
        "shipped": list_shipped_rules(),
    }
    return render_page(request, "dlq/rules.html", context, title="Classification", status=status)


@require_safe
@needs("rule.apply")
def confirm_apply(request: HtmxHttpRequest, rule_id: int) -> HttpResponse:
    return ask_to_apply(request, get_object_or_404(ClassificationRule, pk=rule_id))


def ask_to_apply(
    request: HtmxHttpRequest,
    rule: ClassificationRule,
    *,
    problem: str = "",
    untyped: int = 0,
    again: ConfirmAgain | None = None,
    status: int = 200,
) -> HttpResponse:
    """Count what would be classified again; after a problem, with the numbers as they are now."""
    found = preview_rule(rule)
    wrong = ""
    if untyped:
        problem, wrong = refuse_untyped(f"classify {untyped:,} letters again", untyped, found.count)
    if again:
        problem = again.tell(found.count)
    context = {
        "rule": rule,
        "preview": found,
        "reason": request.POST.get("reason", ""),
        "request_key": uuid4(),
        "type_above": settings.TYPE_NUMBER_ABOVE,
        "problem": problem,
        "wrong": wrong,
    }
    what = "Nothing to classify" if found.is_empty else f"Classify {counted(found.count, 'letter')}"
    return render_page(request, "dlq/confirm_apply_rule.html", context, title=f"{what} again", status=status)


@require_POST
@needs("rule.apply")
def apply(request: HtmxHttpRequest, rule_id: int) -> HttpResponse:
    rule, params = get_object_or_404(ClassificationRule, pk=rule_id), request.POST
    confirmed = read_number(params, "count")
    if not is_typed(params, confirmed):
        return ask_to_apply(request, rule, untyped=confirmed, status=422)
    try:
        run = apply_rules(
            rule,
            watermark=read_number(params, "watermark"),
            confirmed=confirmed,
            actor=request.user,
            request_key=read_request_key(params),
            reason=params.get("reason", "").strip(),
        )
    except ConfirmAgain as error:
        return ask_to_apply(request, rule, again=error, status=409)
    except OperationError as error:
        return ask_to_apply(request, rule, problem=str(error), status=409)
    return redirect("runs:run", run_id=run.pk)


@require_safe
@needs("rule.remove")
def confirm_remove(request: HtmxHttpRequest, rule_id: int) -> HttpResponse:
    rule = get_object_or_404(ClassificationRule, pk=rule_id)
    context = {"rule": rule, "decided_count": count_decided(rule), "most_decided": MOST_DECIDED}
    return render_page(request, "dlq/confirm_remove_rule.html", context, title=f"Remove {rule}")


@require_POST
@needs("rule.remove")
def remove(request: HttpRequest, rule_id: int) -> HttpResponse:
    rule = get_object_or_404(ClassificationRule, pk=rule_id)
    name = str(rule)
    remove_rule(rule, actor=request.user, reason=request.POST.get("reason", "").strip())
    messages.success(
        request, f"{name.capitalize()} is gone; letters keep their category until they are classified again."
    )
    return redirect("dlq:rules")
