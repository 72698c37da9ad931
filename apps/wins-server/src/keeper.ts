/** `wins srv keep`: a separate bundle, because it stays in memory as long as a run, beside a daemon. */
import { guard } from './guard.js';

export const keepRuns = guard(() => import('./commands/keep.js'), 'keepRuns');
