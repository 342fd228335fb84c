"""Find or install what a run needs on this machine: Java, jars, toxiproxy, PostgreSQL.

`setup.ensure` installs what is missing; later calls work offline. `doctor.examine` only inspects.
"""
