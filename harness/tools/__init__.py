"""What a run needs on this machine: Java, jars, toxiproxy, PostgreSQL, and the way to get them.

`setup.ensure` gets whatever is missing and returns where everything is;
the second time it does so offline. `doctor.examine` looks, and changes nothing.
"""
