"""The push API: any system reports its failures with one HTTP call.

What happens if the process dies
1. before anything is recorded: the caller gets no answer and sends again; the request counts twice for the limit;
2. between two batches, or after the last and before the answer: the caller gets no answer and sends everything again.
   A letter is known by source, consumer and event, and a try by its time, so what was there already stays as it is;
3. after the answer: everything that the answer counts is in Postgres.
A letter with its try is one transaction: neither is ever there without the other.
"""
