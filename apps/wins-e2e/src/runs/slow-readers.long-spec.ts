// Repeats the spec with 1 GiB instead of 128 MiB.
import './slow-readers.spec.js';
