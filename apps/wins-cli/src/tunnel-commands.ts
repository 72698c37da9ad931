/**
 * The commands that carry connections to ports of the host: a program of its own beside the others, because of the tunnel, which no other command
 * needs.
 */
import { proxyPorts as proxy } from './commands/proxy.js';
import { guard } from './guard.js';

export const proxyPorts = guard(() => Promise.resolve(proxy));
