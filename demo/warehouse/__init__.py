"""The second system: a warehouse that is not ours, with tables as eventsource-py has them and a database of its own."""
