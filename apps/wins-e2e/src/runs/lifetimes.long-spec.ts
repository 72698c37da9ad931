// Repeats the spec with more moments at which the daemon dies.
import './lifetimes.spec.js';
