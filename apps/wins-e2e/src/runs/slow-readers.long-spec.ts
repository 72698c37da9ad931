// Repeats the spec with 1 GiB.
import './slow-readers.spec.js';
