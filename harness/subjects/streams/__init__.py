"""Stream libraries under test: instances of an application that the library makes a group."""
