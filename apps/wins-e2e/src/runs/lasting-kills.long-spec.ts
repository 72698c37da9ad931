// Repeats the spec with more moments at which the daemon dies.
import './lasting-kills.spec.js';
