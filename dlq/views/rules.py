from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import may, needs
from dashboard.pages import HtmxHttpRequest, render_page
from dlq.forms import RuleForm
from dlq.models import ClassificationRule
from dlq.operations import add_rule, apply_rules, remove_rule
from dlq.queries import list_shipped_rules
from dlq.reclassify import count_reclassified


@require_safe
def list_rules(request: HtmxHttpRequest) -> HttpResponse:
    """The rules in the order in which they are asked; with a new one in the URL, what it would change."""
    form = RuleForm(request.GET) if request.GET else RuleForm()
    is_valid = form.is_bound and form.is_valid()
    # Only for those who may add it: what a rule would match tells something about messages.
    may_add = is_valid and may(request.user, "rule.add")
    preview = count_reclassified(form.save(commit=False)) if may_add else None
    context = {
        "form": form,
        "preview": preview,
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


@require_POST
@needs("rule.apply")
def apply(request: HttpRequest, rule_id: int) -> HttpResponse:
    rule = get_object_or_404(ClassificationRule, pk=rule_id)
    run = apply_rules(rule, actor=request.user, request_key=uuid4())
    return redirect("runs:run", run_id=run.pk)


@require_POST
@needs("rule.remove")
def remove(request: HttpRequest, rule_id: int) -> HttpResponse:
    rule = get_object_or_404(ClassificationRule, pk=rule_id)
    remove_rule(rule, actor=request.user)
    messages.success(
        request, "The rule is gone; letters keep their category until they are classified again."
    )
    return redirect("dlq:rules")
