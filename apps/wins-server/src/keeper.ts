/** `wins srv keep`: a program of its own, since it stays in memory as long as a run, beside a daemon. */
import { guard } from './guard.js';

export const keepRuns = guard(() => import('./commands/keep.js'), 'keepRuns');
