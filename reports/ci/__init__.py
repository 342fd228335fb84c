"""Output for continuous integration: JUnit XML, GitHub step summaries and annotations."""
