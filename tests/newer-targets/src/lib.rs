//! Nothing: the tests of this package are compiled for its targets.
