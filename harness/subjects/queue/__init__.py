"""Subjects that consume one queue and write to another, by JMS or AMQP."""
