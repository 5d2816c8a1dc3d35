//! Runs: what every door does with episodes and stores. Playing, recording, loading, grading and comparing; deciding nothing.
