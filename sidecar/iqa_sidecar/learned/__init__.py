"""What was fitted rather than defined: files of numbers, and the machines that turn features into scores with them."""
