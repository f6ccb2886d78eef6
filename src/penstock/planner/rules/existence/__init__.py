"""Rules for EXISTS, NOT EXISTS and EXCEPT before or after joins and each other."""
