export interface HostEntry<Value> {
  readonly name: string;
  readonly value: Value;
}

const HUB = ['docker.io', 'index.docker.io', 'registry-1.docker.io'];

/**
 * Returns the first entry of these names in any letter case, even an empty one, otherwise that of `*`, as wharfie
 * does.
 */
export function entryOf<Value>(
  entries: Readonly<Record<string, Value>> | null | undefined,
  names: readonly string[],
): HostEntry<Value> | undefined {
  const all = Object.entries(entries ?? {});
  for (const wanted of [...names, '*']) {
    const found = all.find(([name]) => name.toLowerCase() === wanted);
    if (found !== undefined) return { name: found[0], value: found[1] };
  }
  return undefined;
}

/** Names of the server of an address, with and without the implied port. */
export function namesOfServer({ protocol, host, hostname, port }: URL): readonly string[] {
  if (HUB.includes(host)) return HUB;
  return port === '' ? [host, `${hostname}:${protocol === 'https:' ? '443' : '80'}`] : [host];
}

/** Names of the registry of an image among the mirrors. */
export function namesOfRegistry(registry: string): readonly string[] {
  if (HUB.includes(registry)) return HUB;
  if (registry.endsWith(':443')) return [registry, registry.slice(0, -':443'.length)];
  return /:\d+$/.test(registry) ? [registry] : [registry, `${registry}:443`, `${registry}:80`];
}
