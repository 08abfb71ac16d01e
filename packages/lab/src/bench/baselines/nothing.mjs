// A Node that starts and ends.
