/** `wins srv keep`. This process lasts as long as its runs, so a separate bundle keeps it small. */
import { guard } from './guard.js';

export const keepRuns = guard(() => import('./features/detached/command.js'), 'keepRuns');
