import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/**
 * Names the network of this process, so that two processes can find out whether they share one, and learn nothing else: a
 * SHA-256, hexadecimal. A container has another network than its host unless it was given that of the host.
 *
 * On Linux it is of the network namespace and the boot, elsewhere of the adapters, so that it may change with them.
 *
 * @returns Undefined when nothing distinguishes the network.
 */
export function networkIdentity(): string | undefined {
  const facts = process.platform === 'linux' ? namespaceOfBoot() : adapters();
  return facts === undefined ? undefined : createHash('sha256').update(facts).digest('hex');
}

function namespaceOfBoot(): string | undefined {
  try {
    // The number of a namespace is unique in one kernel; a container may have a kernel of its own.
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
