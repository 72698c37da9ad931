/**
 * `wins cli app info`, which programs ask often: a program of its own, that reads nothing that other commands need.
 */
import { showInfo as show } from './commands/app-info.js';
import { guard } from './guard.js';

export const showInfo = guard(() => Promise.resolve(show));
