/** `wins cli proxy` is a separate bundle, because only this command opens a tunnel. */
import { proxyPorts as proxy } from './commands/proxy.js';
import { guard } from './guard.js';

export const proxyPorts = guard(proxy);
