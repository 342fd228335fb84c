"""Subjects that consume a queue and write into another one, by JMS or by AMQP."""
