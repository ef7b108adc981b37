"""Training of the cost model: what scripts/train_hold_one_out is made of."""
