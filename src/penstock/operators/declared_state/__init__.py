"""State that operators declare: saved, restored, divided among lanes, shrunk and measured once."""
