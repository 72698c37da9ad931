/** `wins srv keep`. This process lasts as long as its runs, so a separate bundle keeps it small. */
import { guard } from './guard.js';

export const keepRuns = guard(() => import('./commands/keep.js'), 'keepRuns');
