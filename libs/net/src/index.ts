/**
 * How a wins program reaches servers: which proxy leads there, and whose certificates are believed.
 *
 * It imports Node and ground alone, and writes no log.
 *
 * @example
 * const proxy = proxyOf(new URL('https://registry.example'), process.env);
 * @packageDocumentation
 */
export { ProxyAddressError, proxyOf, type Environment } from './proxy/proxy-of.js';
export { systemRoots } from './trust/system-roots.js';
