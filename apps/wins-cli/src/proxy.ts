/** `wins cli proxy`; a separate bundle, because it alone opens a tunnel, and makes no gRPC calls. */
import { proxyPorts as proxy } from './commands/proxy.js';
import { guard } from './guard.js';

export const proxyPorts = guard(proxy);
