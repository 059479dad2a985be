from dashboard.embedded.applications import applications


def test_up_starts_a_consumer_because_an_app_registers_projections() -> None:
    programs = {program.name: program.command for program in applications(8000, {})}
    assert programs["consumer"][-1] == "consume"
