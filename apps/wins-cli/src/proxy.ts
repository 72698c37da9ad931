/** `wins cli proxy` is a separate bundle, because only this command opens a tunnel, and it makes no gRPC calls. */
import { proxyPorts as proxy } from './commands/proxy.js';
import { guard } from './guard.js';

export const proxyPorts = guard(proxy);
