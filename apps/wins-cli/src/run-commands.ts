/**
 * The commands that run programs of the host: a program of its own beside the others, because of grpc-js, which no other command needs.
 */
import { runProcess as run } from './commands/process-run.js';
import { upgradeDaemon as upgrade } from './commands/upgrade.js';
import { guard } from './guard.js';

export const runProcess = guard(() => Promise.resolve(run));
export const upgradeDaemon = guard(() => Promise.resolve(upgrade));
