"""`./penstock bench chain`: schedulers under bursts, on a virtual clock."""
