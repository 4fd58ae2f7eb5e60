"""One module per metric, each exporting its `TOOL`; the registry collects them."""
