/** `wins srv keep`. This process lasts as long as its runs, so a separate bundle keeps it small. */
import { commandsOf } from './guard.js';

export const { keepRuns } = commandsOf(() => import('./features/detached/command.js'));
