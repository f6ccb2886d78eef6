"""`./penstock bench transactions`: four schedulers of window transactions, for real."""
