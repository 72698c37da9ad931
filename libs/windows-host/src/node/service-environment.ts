import { RegistryKey } from '../registry/registry.js';
import { refused, contentIn, digestOf, keepBytes, type ContentStore } from './node-store.js';
import { quoteText } from '@wins/base';

const VALUE = 'Environment';

/** A variable in the environment of a service. Letter case does not matter in `name`. */
export interface VariableItem {
  readonly service: string;
  readonly name: string;
}

/** Variables that the service control manager adds to the environment of a service. */
export function serviceEnvironment(): ContentStore<VariableItem, { readonly sha256: string }> {
  return {
    read: (item) => {
      const value = valueOf(item);
      return Promise.resolve(value === undefined ? undefined : { sha256: digestOf(value) });
    },
    write: async (item, state, content) => {
      const all = linesOf(item.service);
      const others = all.filter((line) => !isOf(line, item.name));
      if (state === undefined) {
        if (others.length < all.length) write(item.service, others);
        return;
      }
      const value = (await contentIn(content, state.sha256)).toString('utf8');
      write(item.service, [...others, `${item.name}=${value}`]);
    },
    keep: (item, file) => keepBytes(file, Buffer.from(valueOf(item) ?? '')),
  };
}

function valueOf({ service, name }: VariableItem): string | undefined {
  return linesOf(service)
    .find((line) => isOf(line, name))
    ?.slice(name.length + 1);
}

/** Names of variables are case-insensitive on Windows. */
function isOf(line: string, name: string): boolean {
  return line.slice(0, name.length + 1).toLowerCase() === `${name.toLowerCase()}=`;
}

function linesOf(service: string): readonly string[] {
  using key = RegistryKey.open(serviceKey(service));
  const value = key?.value(VALUE);
  return value?.type === 'texts' ? value.value : [];
}

function write(service: string, lines: readonly string[]): void {
  const path = serviceKey(service);
  const tried = `cannot change the environment of the service ${service}`;
  if (lines.some((line) => line.includes('\0'))) throw refused(tried, 'NUL in a value');
  using there = RegistryKey.open(path);
  // For a missing service, `RegistryKey.create` would create a broken one, which Windows could then no longer register.
  if (there === undefined) throw refused(tried, 'no such service');
  using key = RegistryKey.create(path);
  if (lines.length === 0) key.delete(VALUE);
  else key.set(VALUE, { type: 'texts', value: lines });
  key.flush();
}

/** @throws WindowsError `invalidArgument` for a malformed name. */
function serviceKey(service: string): string {
  if (!/^[\w.-]{1,256}$/.test(service)) throw refused('cannot find a service', quoteText(service));
  return `SYSTEM\\CurrentControlSet\\Services\\${service}`;
}

/** True for a deleted service, which remains while a program holds it open. */
export function isBeingRemoved(service: string): boolean {
  using key = RegistryKey.open(serviceKey(service));
  const flag = key?.value('DeleteFlag');
  return flag?.type === 'number' && flag.value !== 0;
}
