/**
 * All commands, and what completes them: a program of its own beside what the client starts with.
 */
export { completeWords } from './command-line/completion/complete-words.js';
export { root } from './commands/root.js';
export { upIn } from './commands/up.js';
