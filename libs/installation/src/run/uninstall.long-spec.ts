// Repeats the spec with a fault at every effect, instead of at every fourth one.
import './uninstall.spec.js';
