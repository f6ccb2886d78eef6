"""Files of streams and relations: which wait to be read, in which order, and their rows."""
