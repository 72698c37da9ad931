/** The doctor, with doubles. */
import './doubles.js';

export * from '../doctor.js';
