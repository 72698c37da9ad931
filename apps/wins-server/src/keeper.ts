/** `wins srv keep`: a bundle of its own keeps this process small, because it runs as long as the runs that it keeps. */
import { guard } from './guard.js';

export const keepRuns = guard(() => import('./commands/keep.js'), 'keepRuns');
