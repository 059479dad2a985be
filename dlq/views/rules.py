from uuid import uuid4

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import may, needs
from dashboard.pages import HtmxHttpRequest, render_page
from dlq.forms import RuleForm
from dlq.models import ClassificationRule
from dlq.operations import add_rule, apply_rules, remove_rule
from dlq.operations.errors import OperationError
from dlq.queries import list_shipped_rules
from dlq.queries.rules import MOST_DECIDED, count_decided, preview_rule
from dlq.reclassify import count_reclassified
from dlq.views.selecting import is_typed, read_key, read_number


@require_safe
def list_rules(request: HtmxHttpRequest) -> HttpResponse:
    """The rules in the order in which they are asked; with a new one in the URL, what it would change."""
    form = RuleForm(request.GET) if request.GET else RuleForm()
    is_valid = form.is_bound and form.is_valid()
    # Only for those who may add it: what a rule would match tells something about messages.
    may_add = is_valid and may(request.user, "rule.add")
    rule = form.save(commit=False) if may_add else None
    context = {
        "form": form,
        "rule": rule,
        "preview": count_reclassified(rule) if rule else None,
        "rules": ClassificationRule.objects.all()[:500],
        "shipped": list_shipped_rules(),
    }
    status = 400 if form.is_bound and not is_valid else 200
    return render_page(request, "dlq/rules.html", context, title="Classification", status=status)


@require_POST
@needs("rule.add")
def add(request: HtmxHttpRequest) -> HttpResponse:
    form = RuleForm(request.POST)
    if not form.is_valid():
        context = {
            "form": form,
            "rules": ClassificationRule.objects.all()[:500],
            "shipped": list_shipped_rules(),
        }
        return render_page(request, "dlq/rules.html", context, title="Classification", status=400)
    rule = add_rule(form.save(commit=False), actor=request.user)
    messages.success(request, f"Rule {rule.pk} holds for what fails from now on.")
    return redirect("dlq:rules")


@require_safe
@needs("rule.apply")
def confirm_apply(request: HtmxHttpRequest, rule_id: int) -> HttpResponse:
    return ask_to_apply(request, get_object_or_404(ClassificationRule, pk=rule_id))


def ask_to_apply(
    request: HtmxHttpRequest,
    rule: ClassificationRule,
    *,
    problem: str = "",
    wrong: str = "",
    status: int = 200,
) -> HttpResponse:
    """Count what would be classified again; after a problem, with the numbers as they are now."""
    found = preview_rule(rule)
    # What stands at a field that is not asked for any more would be said nowhere.
    wrong = wrong if found.count > settings.TYPE_NUMBER_ABOVE else ""
    context = {
        "rule": rule,
        "preview": found,
        "reason": request.POST.get("reason", ""),
        "request_key": uuid4(),
        "type_above": settings.TYPE_NUMBER_ABOVE,
        "problem": problem,
        "wrong": wrong,
    }
    title = f"Classify {found.count:,} letter{'' if found.count == 1 else 's'} again"
    title = "Nothing to classify again" if found.is_empty else title
    return render_page(request, "dlq/confirm_apply_rule.html", context, title=title, status=status)


@require_POST
@needs("rule.apply")
def apply(request: HtmxHttpRequest, rule_id: int) -> HttpResponse:
    rule, params = get_object_or_404(ClassificationRule, pk=rule_id), request.POST
    confirmed = read_number(params, "count")
    if not is_typed(params, confirmed):
        problem = f"To classify {confirmed:,} letters again, type that number."
        return ask_to_apply(request, rule, problem=problem, wrong="typed", status=422)
    try:
        run = apply_rules(
            rule,
            watermark=read_number(params, "watermark"),
            confirmed=confirmed,
            actor=request.user,
            request_key=read_key(params),
            reason=params.get("reason", "").strip(),
        )
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
