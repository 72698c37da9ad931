/** `wins cli proxy`; a separate bundle, because no other command opens a tunnel and this one makes no gRPC calls. */
import { proxyPorts as proxy } from './commands/proxy.js';
import { guard } from './guard.js';

export const proxyPorts = guard(proxy);
