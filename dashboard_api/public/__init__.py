"""Public documents about all websites together, made in advance: a visitor's request never reads findings."""
