// Repeats the spec; `counted` writes 1 GiB instead of 128 MiB.
import './slow-readers.spec.js';
