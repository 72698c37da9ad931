// A daemon that dies at more moments of a run.
import './lifetimes.spec.js';
