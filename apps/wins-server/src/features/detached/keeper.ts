/** `wins srv keep`. This process lasts as long as its runs, so a separate bundle keeps it small. */
import { commandsWith } from '../../guard.js';

const commandsOf = commandsWith(() => import('../../exit-code-for-error.js'));

export const { keepRuns } = commandsOf(() => import('./command.js'));
