// A daemon that dies at more moments of a run.
import './lasting-kills.spec.js';
