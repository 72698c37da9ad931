// A gigabyte.
import './slow-readers.spec.js';
