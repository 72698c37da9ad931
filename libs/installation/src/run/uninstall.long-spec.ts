// Runs the spec for every effect.
import './uninstall.spec.js';
