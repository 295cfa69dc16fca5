"""What the folders of a session bring along, read from the disk: instructions, commands, the state of the repository.

All of it is written by others and may be hostile: reads are few and bounded, nothing but regular files is opened, and
what cannot be used is a warning.
"""
