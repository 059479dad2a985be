"""scratch"""
import time, os
from django.conf import settings
from django.db import connection
from bench.sync import *
from sources.sync.arriving import take_rows
from sources.registry import get_source
from django.db import transaction

def cpu(pid):
    f=open(f"/proc/{pid}/stat").read().rsplit(")",1)[1].split(); return (int(f[11])+int(f[12]))/100

def main():
    dsn = make_source(30000)
    settings.SOURCES = {"shop": {"kind": "eventsource-py", "dsn": dsn}}
    with psycopg.connect(dsn, autocommit=True) as shop:
        pid=shop.info.backend_pid
        c0=time.process_time(); b0=cpu(pid); t=time.perf_counter(); after=0
        while rows := shop.execute(READ, [after]).fetchall(): after=rows[-1][0]
        print("read wall", 1e6*(time.perf_counter()-t)/30000,"py", 1e6*(time.process_time()-c0)/30000, "pg", 1e6*(cpu(pid)-b0)/30000)
    src = get_source("shop")
    connection.ensure_connection(); cp=connection.connection.info.backend_pid
    with src.visit() as v:
        rows=v.letters.read_open(after="", limit=500)
        with transaction.atomic(): take_rows("shop", v.letters.words, rows)
        for k in range(3):
            n=0; sp=v.connection.info.backend_pid; s0=cpu(sp); b0=cpu(cp); c0=time.process_time(); t0=time.perf_counter()
            for i in range(15):
                rows=v.letters.read_open(after=rows[-1].key, limit=500)
                with transaction.atomic(): take_rows("shop", v.letters.words, rows)
                n+=500
            print("import wall", 1e6*(time.perf_counter()-t0)/n, "py", 1e6*(time.process_time()-c0)/n, "pg console", 1e6*(cpu(cp)-b0)/n, "pg source", 1e6*(cpu(sp)-s0)/n)
