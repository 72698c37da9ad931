/**
 * `wins status` and `wins doctor`. Node agents run `status` often, so it starts fast: a bundle of its own, all of whose modules are imported
 * statically, holds only what these commands use of each library.
 */
import * as doctor from './commands/doctor.js';
import { exitCodeForError } from './exit-code-for-error.js';
import { commandsWith } from './guard.js';

const commandsOf = commandsWith(() => Promise.resolve({ exitCodeForError }));

export const { showStatus, runDoctor } = commandsOf(() => Promise.resolve(doctor));
