// Repeats the spec with more `seeds`.
import './lasting-kills.spec.js';
