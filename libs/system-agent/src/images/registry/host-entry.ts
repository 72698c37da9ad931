/** An entry of `registries.yaml`, and the name that it has there. */
export interface HostEntry<Value> {
  readonly name: string;
  readonly value: Value;
}

const HUB = ['docker.io', 'index.docker.io', 'registry-1.docker.io'];

/** The first entry of these names counts, in capital or small letters and also where it is empty, else that of `*`: so wharfie has it. */
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

/** The names that the server of an address may have: with and without the port that its scheme implies. */
export function namesOfServer({ protocol, host, hostname, port }: URL): readonly string[] {
  if (HUB.includes(host)) return HUB;
  return port === '' ? [host, `${hostname}:${protocol === 'https:' ? '443' : '80'}`] : [host];
}

/** The names that the registry of an image may have among the mirrors. */
export function namesOfRegistry(registry: string): readonly string[] {
  if (HUB.includes(registry)) return HUB;
  if (registry.endsWith(':443')) return [registry, registry.slice(0, -':443'.length)];
  return /:\d+$/.test(registry) ? [registry] : [registry, `${registry}:443`, `${registry}:80`];
}
