"""`./penstock bench chain`: schedulers under bursts, in a model, on a lane and on Spark."""
