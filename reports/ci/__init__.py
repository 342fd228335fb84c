"""What continuous integration reads: JUnit's XML, and GitHub's summaries and annotations."""
