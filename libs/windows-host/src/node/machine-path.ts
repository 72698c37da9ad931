import { RegistryKey, type RegistryValue } from '../registry/registry.js';
import { refused, presence, settled, type NodeRoom, type Presence } from './node-room.js';

const KEY = 'SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';
const NAME = 'Path';

/**
 * Entries of the machine's PATH. Never expands the value, and keeps its type, so that `%NAME%` stays as written.
 * Services see a change at their next start; programs of an open session do not, because no message is broadcast.
 */
export function machinePath(key: string = KEY): NodeRoom<{ readonly path: string }, Presence> {
  return {
    read: ({ path }) => presence(elementsOf(valueOf(key).value).some((each) => isSame(each, path))),
    write: ({ path }, state) =>
      settled(() => {
        if (/[;%"\0]/.test(path))
          throw refused('cannot change the PATH', 'a separator in the folder');
        const { type, value } = valueOf(key);
        const isThere = elementsOf(value).some((each) => isSame(each, path));
        if (isThere === (state !== undefined)) return;
        const changed =
          state === undefined
            ? elementsOf(value)
                .filter((each) => !isSame(each, path))
                .join(';')
            : value === ''
              ? path
              : `${value};${path}`;
        write(key, { type, value: changed });
      }),
  };
}

function valueOf(path: string): Extract<RegistryValue, { value: string }> {
  using key = RegistryKey.open(path);
  const found = key?.value(NAME);
  if (found === undefined) return { type: 'expandable-text', value: '' };
  if (found.type === 'text' || found.type === 'expandable-text') return found;
  throw refused('cannot read the PATH of the machine', `a value of the type ${found.type}`);
}

function write(path: string, value: RegistryValue): void {
  using key = RegistryKey.create(path);
  key.set(NAME, value);
  key.flush();
}

/** Returns the elements as they stand there, the empty ones too, so that joining them gives the same text again. */
function elementsOf(value: string): readonly string[] {
  return value.split(';');
}

function isSame(a: string, b: string): boolean {
  const plain = (text: string): string =>
    text.trim().replace(/\//g, '\\').replace(/\\+$/, '').toLowerCase();
  return plain(a) === plain(b);
}
