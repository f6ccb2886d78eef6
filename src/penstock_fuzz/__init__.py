"""Random queries over random inputs, fed in random pieces, judged by the reference evaluator."""
