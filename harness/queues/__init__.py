"""What all queue brokers have in common: their queues, their messages, and questions about both."""
