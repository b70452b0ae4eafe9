//! Opens the NVIDIA driver when the program starts, so that one binary runs with or without it.
