// Repeats the spec with a death at every effect, instead of at every fifth one.
import './csi-proxy-deaths.spec.js';
