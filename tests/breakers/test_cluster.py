"""The scripts on a server in cluster mode, which refuses a script whose keys live in different slots."""

from collections.abc import Iterator

import pytest
from redis import ResponseError

from breakers import keys, scripts
from breakers.api import BreakerOpen, Policy
from tests.breakers.conftest import fail, make_breaker
from tests.breakers.valkey import PrivateValkey
from tests.processes import find_port
from tests.wait import until


@pytest.fixture(scope="module")
def one_node() -> Iterator[PrivateValkey]:
    """One node that has all slots."""
    # The nodes' own port would be 10000 otherwise, for every such server on this machine.
    server = PrivateValkey("--cluster-enabled", "yes", "--cluster-port", str(find_port()))
    client = server.client()
    client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    until(lambda: client.execute_command("CLUSTER INFO")["cluster_state"] == "ok")
    yield server
    server.close()


@pytest.fixture
def cluster(one_node: PrivateValkey) -> PrivateValkey:
    one_node.client().flushall()
    return one_node


@pytest.mark.parametrize("name", ["api", "{other}tag", "}{", "https://x.example/{id}"])
def test_every_script_runs(cluster: PrivateValkey, name: str):
    now = 1_700_000_000.0
    policy = Policy(failure_threshold=1, open_seconds=10, success_threshold=2, cache_seconds=0)
    breaker = make_breaker(cluster, name, policy, clock=lambda: now)
    fail(breaker)
    now += 10
    with pytest.raises(KeyboardInterrupt), breaker.call():
        raise KeyboardInterrupt
    for _ in range(2):
        with breaker.call():
            pass
    execute = cluster.client().execute_command
    assert scripts.hold(execute, name, None, 1, "") == 1
    with pytest.raises(BreakerOpen), breaker.call():
        pass
    assert scripts.reset(execute, name, None, 1) == 1
    assert scripts.prune(execute, "", None) == 0
    causes = [fields[b"cause"] for _, fields in cluster.client().xrange(keys.TRANSITIONS)]
    assert causes == [b"too many failures", b"pause over", b"probes succeeded", b"tripped", b"reset"]


def test_the_server_would_refuse_keys_of_two_slots(cluster: PrivateValkey):
    with pytest.raises(ResponseError, match="same slot"):
        cluster.client().eval("return 1", 2, "a", "b")
