/**
 * All commands, and what completes them: a program of its own beside what the client starts with.
 */
export { completeWords } from '@wins/command-line';
export { root } from './commands/root.js';
export { upIn } from './commands/up.js';
