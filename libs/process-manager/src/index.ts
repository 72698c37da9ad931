export { ProcessError } from './process-error.js';
