/**
 * `wins cli proxy`, which carries connections to ports of the host: a program of its own, because no other command has a tunnel, and this
 * one makes no calls.
 */
import { proxyPorts as proxy } from './commands/proxy.js';
import { guard } from './guard.js';

export const proxyPorts = guard(proxy);
