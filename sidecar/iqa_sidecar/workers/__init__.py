"""The worker processes: the pool, one process, its command loop and the messages between them."""
