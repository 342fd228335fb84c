"""Scenarios, their fault schedules, and the execution of schedules."""
