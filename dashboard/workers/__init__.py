"""The processes behind the console: heartbeats, queues, and the page that shows them."""
