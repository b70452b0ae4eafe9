//! Nothing: the tests of this package are compiled without the optimisations.
