import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/**
 * Returns a SHA-256 (hex). Two processes compare their values to find out whether they share a network; the value reveals nothing
 * else. On Linux it covers the network namespace and the boot id. Elsewhere it covers the adapters, so it may change. Undefined when
 * nothing distinguishes the network.
 */
export function networkIdentity(): string | undefined {
  const facts = process.platform === 'linux' ? namespaceOfBoot() : adapters();
  return facts === undefined ? undefined : createHash('sha256').update(facts).digest('hex');
}

function namespaceOfBoot(): string | undefined {
  try {
    // A namespace number is unique only within one kernel, and a container may have its own kernel.
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')}${readlinkSync('/proc/self/ns/net')}`;
  } catch {
    return undefined;
  }
}

function adapters(): string | undefined {
  const facts = Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ internal }) => !internal)
    .map(({ mac, cidr }) => `${mac} ${cidr}`);
  return facts.length === 0 ? undefined : facts.sort().join('\n');
}
