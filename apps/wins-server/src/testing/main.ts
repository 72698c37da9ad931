/** The whole daemon, with doubles. */
import './doubles.js';

export * from '../main.js';
