"""Models fitted to data: features, kernel ridge regression and the predictions made with them."""
