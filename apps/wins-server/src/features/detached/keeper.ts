/** `wins srv keep`. This process lasts as long as its runs, so a separate bundle keeps it small. */
import { exitCodeForError } from '../../exit-code-for-error.js';
import { commandsWith } from '../../guard.js';
import * as command from './command.js';

const commandsOf = commandsWith(() => Promise.resolve({ exitCodeForError }));

export const { keepRuns } = commandsOf(() => Promise.resolve(command));
