/** `wins srv keep`: a separate bundle, because this process stays in memory, beside a daemon, for as long as a run lasts. */
import { guard } from './guard.js';

export const keepRuns = guard(() => import('./commands/keep.js'), 'keepRuns');
